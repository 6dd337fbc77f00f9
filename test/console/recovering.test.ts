/** The dialog that recovers: what it offers by default, which recovery it shows, and to whom it offers what. */
import type { Page } from 'playwright-core';
import { describeOnMock } from './on-mock.js';

const FAILING = 102;
const ORDER = { webhookIds: [FAILING], since: new Date(0).toISOString(), include: ['held'], perSecond: 20 };

describeOnMock('the dialog that recovers', (show) => {
  const dialogOf = (page: Page) => page.getByRole('dialog', { name: 'Recover deliveries' });
  const openForm = (page: Page) => page.locator('.problem.bad').getByRole('button', { name: 'Recover…' }).click();

  it('counts all that is kept, and sends from the oldest of it', async () => {
    const { page, mock } = await show('/console');
    const counted = page.waitForRequest(/\/recover\?/);
    await openForm(page);
    expect(new URL((await counted).url()).searchParams.get('since')).toBe(new Date(0).toISOString());
    const dialog = dialogOf(page);
    expect(await dialog.getByLabel('Published since').inputValue()).toBe('');
    await dialog.getByText('Empty: all that is kept').waitFor();
    await dialog.getByText('at 20 per second, about 3 min').waitFor();
    await dialog.getByRole('button', { name: 'Send 3,612' }).click();
    await dialog.getByText('640 of 3,612').waitFor();
    expect(mock.account.recovery).toMatchObject({ since: mock.account.preview('held').oldest, webhookIds: [FAILING] });
  });

  // The list of webhooks is asked for less often than their health.
  it.each([true, false])(
    'counts for a URL that is activated, of which the list says isActive: %s',
    async (isActive) => {
      const { page, mock } = await show(null);
      mock.altered = (body) => JSON.parse(JSON.stringify(body).replace(/"isActive":\w+/g, `"isActive":${isActive}`));
      await page.goto(mock.link());
      await page.getByRole('button', { name: 'Activate' }).click();
      await dialogOf(page).getByRole('button', { name: 'Send 3,612' }).waitFor();
    },
  );

  it('shows the recovery that runs instead of a second one, with what has no answer yet and what it waits for', async () => {
    const { page, mock } = await show(null);
    mock.account.recover(ORDER);
    await page.goto(mock.link());
    await openForm(page);
    await dialogOf(page).getByText('640 of 1,204').waitFor();
    Object.assign(mock.account.recovery ?? {}, { state: 'done', count: 17, sent: 17, delivered: 3, failed: 4 });
    const waits = 'While the URL is failing, the attempt waits until the URL is tried again.';
    await dialogOf(page).getByText(waits).waitFor();
    await dialogOf(page).getByText('No answer yet').waitFor();
  });
});
