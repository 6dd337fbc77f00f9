/**
 * Resends, of a selection and of one delivery: what is sent again is what its user sees, and asks for. The dialog that
 * recovers: what it offers by default, which recovery it shows, and to whom it offers what.
 */
import type { Page } from 'playwright-core';
import { HOUR_MS } from '../../src/cli/demo/story.js';
import { describeOnDay } from './day.js';

/** Of each kind but missed as many as take long to send. */
const OLDEST = new Date(Date.now() - 20 * HOUR_MS).toISOString();
const manyCounted = (body: unknown, { pathname, searchParams }: URL) =>
  pathname.endsWith('/recover') && searchParams.get('include') !== 'missed'
    ? { ...(body as object), count: 1_204, oldest: OLDEST }
    : body;

describeOnDay('sent again:', (show) => {
  describe('a resend', () => {
    const boxes = (page: Page) => page.getByRole('checkbox', { name: /^Select pay-/ });
    const selection = (page: Page, count: number) => page.getByRole('region', { name: `${count} selected` });

    async function select(page: Page, count: number): Promise<void> {
      for (let row = 0; row < count; row += 1) await boxes(page).nth(row).check();
      await selection(page, count).waitFor();
    }

    it('of a selection that has arrived is not offered', async () => {
      const { page } = await show('/payments?arrived=all');
      await select(page, 1);
      expect(await page.getByRole('button', { name: 'All have arrived' }).isDisabled()).toBe(true);
    });

    it('takes nothing that was selected before another filter', async () => {
      const { page } = await show('/payments');
      await select(page, 2);
      await page.getByRole('combobox', { name: 'Type' }).selectOption('cash_out');
      await selection(page, 2).waitFor({ state: 'detached' });
    });

    it('of a selection that fails says why, in the words of the page, and is done once it is taken', async () => {
      const { page } = await show('/payments?arrived=nowhere', { refused: /^409 POST .*\/resend$/ });
      const message = 'the webhook of this delivery is inactive or was removed: activate it first';
      await page.route('**/resend', (route) =>
        route.fulfill({ status: 409, json: { success: false, message, code: 'webhook-inactive' } }),
      );
      await select(page, 1);
      await page.getByRole('button', { name: 'Resend 1' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Resend 1' }).click();
      await page.getByText(`1 of 1 could not be resent. ${message}`).waitFor();
      await page.unroute('**/resend');
      await select(page, 1);
      await page.getByRole('button', { name: 'Resend 1' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Resend 1' }).click();
      await page.getByText('1 delivery is on the way.').waitFor();
    });

    it('of what has arrived is a question first, and one more attempt does not count as that which brought it', async () => {
      const { page, day } = await show(null);
      await page.goto(await day.link(`/deliveries/${await day.delivery('/ledger', 'delivered')}`));
      const arrived = page.getByRole('article').filter({ hasText: '/ledger' });
      const resend = arrived.getByRole('button', { name: 'Resend now' });
      await resend.click();
      const dialog = page.getByRole('dialog', { name: 'Resend this delivery?' });
      await dialog.getByText('It was delivered already: the receiver gets it again').waitFor();
      await dialog.getByRole('button', { name: 'Resend now' }).click();
      await arrived.getByText('resent by maria').waitFor();
      await dialog.waitFor({ state: 'detached' });
      await arrived.getByText('Accepted by the receiver after 1 attempt.').waitFor();
    });

    it('keeps its question open while the payment of the delivery is loaded', async () => {
      const { page, day } = await show(null);
      let load = () => {};
      const loaded = new Promise<void>((resolve) => {
        load = resolve;
      });
      await page.route('**/api/events?*', async (route) => {
        await loaded;
        await route.continue();
      });
      await page.goto(await day.link(`/deliveries/${await day.delivery('/ledger', 'delivered')}`));
      const article = page.getByRole('article').filter({ hasText: '/ledger' });
      await article.getByRole('button', { name: 'Resend now' }).click();
      const dialog = page.getByRole('dialog', { name: 'Resend this delivery?' });
      await dialog.waitFor();
      load();
      await page.locator('h1').waitFor();
      expect(await dialog.isVisible()).toBe(true);
    });
  });

  describe('the dialog that recovers', () => {
    const dialogOf = (page: Page) => page.getByRole('dialog', { name: 'Recover deliveries' });
    const openForm = (page: Page, path: string) =>
      page.locator('.problem.bad').filter({ hasText: path }).getByRole('button', { name: 'Recover…' }).click();

    it('is offered before a removal, which states how many exhausted deliveries it would give up', async () => {
      const { page } = await show('/webhooks');
      await page.locator('a.row-link').filter({ hasText: '/notify' }).click();
      await page.getByRole('button', { name: 'Remove…' }).first().click();
      const question = page.getByRole('dialog', { name: 'Remove it?' });
      await question
        .getByText(/^\d+ deliveries were given up .* cannot be recovered once the webhook is removed[.]$/)
        .waitFor();
      await question.getByRole('button', { name: 'Recover them first…' }).click();
      await dialogOf(page)
        .getByRole('checkbox', { name: /^Given up/, checked: true })
        .waitFor();
    });

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
});
