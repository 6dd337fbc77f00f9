/** The figures of 24 hours beside each URL. */
import type { Page } from 'playwright-core';
import { describeOnMock } from './on-mock.js';

describeOnMock('a URL in the list of webhooks', (show) => {
  /** Of all webhooks, in one hour. */
  async function counted(page: Page, counts: { delivered: number; failedAttempts: number; exhausted: number }) {
    await page.route('**/api/stats?*', async (route) => {
      const response = await route.fetch();
      const { buckets, ...stats } = (await response.json()) as { buckets: object[] };
      await route.fulfill({ response, json: { ...stats, buckets: [{ ...buckets[0], ...counts }] } });
    });
  }
  const measure = (page: Page, name: string) =>
    page
      .locator('.hook')
      .first()
      .locator('.measure')
      .filter({ has: page.getByText(name, { exact: true }) })
      .locator('b');

  it('has the number of deliveries that were given up', async () => {
    const { page, mock } = await show(null);
    await counted(page, { delivered: 100, failedAttempts: 2, exhausted: 1_234 });
    await page.goto(mock.link('/console/webhooks'));
    await measure(page, 'given up, 24 h').getByText('1,234').waitFor();
    expect(await measure(page, 'given up, 24 h').getAttribute('class')).toBe('bad');
  });

  it.each([
    [94, 6, 'warn'],
    [95, 5, null],
    [0, 0, null],
  ])('with %d attempts accepted and %d refused has the tone %s, though it is healthy', async (...row) => {
    const [delivered, failedAttempts, tone] = row;
    const { page, mock } = await show(null);
    await counted(page, { delivered, failedAttempts, exhausted: 0 });
    await page.goto(mock.link('/console/webhooks'));
    await measure(page, 'given up, 24 h').getByText('0', { exact: true }).waitFor();
    expect(await measure(page, 'success, 24 h').getAttribute('class')).toBe(tone);
  });
});
