/** The dialog that recovers: what it offers by default, which recovery it shows, and to whom it offers what. */
import type { Page } from 'playwright-core';
import { HOUR_MS } from '../../src/cli/demo/story.js';
import { describeOnDay } from './day.js';

/** Of each kind but missed as many as take long to send. */
const OLDEST = new Date(Date.now() - 20 * HOUR_MS).toISOString();
const manyCounted = (body: unknown, { pathname, searchParams }: URL) =>
  pathname.endsWith('/recover') && searchParams.get('include') !== 'missed'
    ? { ...(body as object), count: 1_204, oldest: OLDEST }
    : body;

describeOnDay('the dialog that recovers', (show) => {
  const dialogOf = (page: Page) => page.getByRole('dialog', { name: 'Recover deliveries' });
  const openForm = (page: Page, path: string) =>
    page.locator('.problem.bad').filter({ hasText: path }).getByRole('button', { name: 'Recover…' }).click();

  it('counts all that is kept, and sends from the oldest of it', async () => {
    const { page, day } = await show(null);
    day.proxy.altered = manyCounted;
    await page.goto(await day.link());
    const counted = page.waitForRequest(/\/recover\?/);
    await openForm(page, '/notify');
    expect(new URL((await counted).url()).searchParams.get('since')).toBe(new Date(0).toISOString());
    const dialog = dialogOf(page);
    expect(await dialog.getByLabel('Published since').inputValue()).toBe('');
    await dialog.getByText('Empty: all that is kept').waitFor();
    await dialog.getByText('at 20 per second, about 3 min').waitFor();
    const started = page.waitForRequest((request) => request.method() === 'POST');
    await dialog.getByRole('button', { name: 'Send 3,612' }).click();
    await dialog.getByText(/^\d+ of [1-9]\d*$/).waitFor();
    const { id } = await day.webhook('/notify');
    expect((await started).postDataJSON()).toMatchObject({ since: OLDEST, webhookIds: [id] });
  });

  // The list of webhooks is asked for less often than their health.
  it.each([true, false])(
    'counts for a URL that is activated, of which the list says isActive: %s',
    async (isActive) => {
      const { page, day } = await show(null);
      await day.client.patch((await day.webhook('/erp')).id, { isActive: false });
      day.proxy.altered = (body, asked) =>
        JSON.parse(JSON.stringify(manyCounted(body, asked)).replace(/"isActive":\w+/g, `"isActive":${isActive}`));
      await page.goto(await day.link());
      await page.getByRole('button', { name: 'Activate' }).click();
      await dialogOf(page).getByRole('button', { name: 'Send 3,612' }).waitFor();
    },
  );

  it('shows the recovery that runs instead of a second one, with what has no answer yet and what it waits for', async () => {
    const { page, day } = await show(null);
    const stands = { state: 'running', count: 1_204, sent: 640, delivered: 631, failed: 9, passedBy: null };
    await day.recovering('/crm', stands);
    await page.goto(await day.link());
    await openForm(page, '/crm');
    await dialogOf(page).getByText('640 of 1,204').waitFor();
    Object.assign(stands, { state: 'done', count: 17, sent: 17, delivered: 3, failed: 4 });
    const waits = 'While the URL is failing, the attempt waits until the URL is tried again.';
    await dialogOf(page).getByText(waits).waitFor();
    await dialogOf(page).getByText('No answer yet').waitFor();
  });
});
