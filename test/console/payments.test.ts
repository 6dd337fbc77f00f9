/** The list of payments, the search, and a payment with what became of it. */
import { clicksOn } from './browser.js';
import { describeOnDay } from './day.js';

describeOnDay('payments', (show) => {
  it('are filtered in the address, which leads back to them; the one that was opened has the focus then', async () => {
    const { page } = await show('/payments');
    await page.getByRole('combobox', { name: 'Arrived?' }).selectOption('nowhere');
    await page.waitForURL('**/console/payments?arrived=nowhere');
    await page.getByRole('combobox', { name: 'Answer' }).selectOption('timeout');
    await page.waitForURL('**/console/payments?arrived=nowhere&error=timeout');
    await page.locator('tbody a.row-link').first().click();
    await page.getByRole('heading', { name: 'Timeline' }).waitFor();
    await page.locator('a.crumb').click();
    await page.waitForURL('**/console/payments?arrived=nowhere&error=timeout');
    const other = page.locator('tbody a.row-link').nth(2);
    await other.click();
    await page.getByRole('heading', { name: 'Timeline' }).waitFor();
    await page.goBack();
    await other.and(page.locator(':focus')).waitFor();
  });

  it('that are new wait behind their number, and nothing moves', async () => {
    const { page, day } = await show('/payments');
    const first = page.locator('tbody tr').first();
    await first.getByText(day.newest).waitFor();
    const added = await day.pay(9_001);
    const fresh = page.getByRole('button', { name: '1 new: show it' });
    await fresh.waitFor();
    expect(await first.getByText(day.newest).count()).toBe(1);
    await fresh.click();
    await first.getByText(added).waitFor();
  });

  it('are found by their ids with what was answered in 2 clicks, and deliveries by webhook-id', async () => {
    const { page, day } = await show('/');
    const delivered = await day.delivery('/ledger', 'delivered');
    const search = page.getByRole('searchbox');
    await search.click();
    await search.fill(day.newest);
    await search.press('Enter');
    await page.waitForURL('**/console/payments/pay-*');
    await page.getByText('9,007,199,254,740,993.10').waitFor();
    await page.getByText('database is locked').filter({ visible: true }).first().waitFor();
    expect(await clicksOn(page)).toBeLessThanOrEqual(2);
    await search.fill(delivered);
    await search.press('Enter');
    await page.waitForURL(`**/console/deliveries/${delivered}`);
    await page.getByText('Accepted by the receiver after 1 attempt.').waitFor();
  });
});
