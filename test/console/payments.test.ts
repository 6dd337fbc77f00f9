/** The list of payments, the search, and a payment with what became of it. */
import { clicksOn } from './browser.js';
import { describeOnMock } from './on-mock.js';

describeOnMock('payments', (show) => {
  it('are filtered in the address, which leads back to them; the one that was opened has the focus then', async () => {
    const { page } = await show('/console/payments');
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
    const { page, mock } = await show(null);
    let isNew = false;
    await page.route('**/api/events?*', async (route) => {
      const response = await route.fetch();
      const body = (await response.json()) as { events: object[] };
      const added = { ...body.events[0], cursor: 'new', eventId: 'pay_new' };
      await route.fulfill({ response, json: isNew ? { ...body, events: [added, ...body.events] } : body });
    });
    await page.goto(mock.link('/console/payments'));
    const first = page.locator('tbody tr').first();
    const before = await first.textContent();
    isNew = true;
    const fresh = page.getByRole('button', { name: '1 new: show it' });
    await fresh.waitFor();
    expect(await first.textContent()).toBe(before);
    await fresh.click();
    await first.getByText('pay_new').waitFor();
  });

  it('are found by their ids with what was answered in 2 clicks, and deliveries by webhook-id', async () => {
    const { page, mock } = await show('/console');
    const search = page.getByRole('searchbox');
    await search.click();
    await search.fill(mock.account.events({}).events[6]?.eventId ?? '');
    await search.press('Enter');
    await page.waitForURL('**/console/payments/pay_*');
    await page.getByText('9,007,199,254,740,993.10').waitFor();
    await page.getByText('database is in maintenance').filter({ visible: true }).first().waitFor();
    expect(await clicksOn(page)).toBeLessThanOrEqual(2);
    await search.fill('msg_0');
    await search.press('Enter');
    await page.waitForURL('**/console/deliveries/msg_0');
    await page.getByText('Accepted by the receiver after 1 attempt.').waitFor();
  });
});
