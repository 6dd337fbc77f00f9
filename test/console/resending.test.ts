/** Resends, of a selection and of one delivery: what is sent again is what its user sees, and asks for. */
import type { Page } from 'playwright-core';
import { describeOnDay } from './day.js';

describeOnDay('a resend', (show) => {
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
});
