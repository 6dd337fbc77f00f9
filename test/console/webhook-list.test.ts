/** The rows of the Webhooks screen: the figures of the last day, and a test from there. */
import { expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { describeOnMock } from './on-mock.js';

const HOUR = 3_600_000;

describeOnMock('a row of the webhooks', (show) => {
  /** @param ago of the only deliveries, in hours */
  async function deliveredOnly(page: Page, ago: number): Promise<void> {
    await page.route('**/api/stats?*', async (route) => {
      const response = await route.fetch();
      const stats = (await response.json()) as { buckets: { at: string }[] };
      const hour = Math.floor(Date.now() / HOUR) * HOUR;
      const buckets = stats.buckets.filter(({ at }) => Date.parse(at) === hour - ago * HOUR);
      await route.fulfill({ response, json: { ...stats, buckets } });
    });
  }

  it.each([
    [1, /\d ms|\d sec/],
    [5, /^–$/],
  ])('has a p95 of the last hour, whose last deliveries were %d hours ago: %s', async (ago, expected) => {
    const { page, mock } = await show(null, { size: 20_000 });
    await deliveredOnly(page, ago);
    await page.goto(mock.link('/console/webhooks'));
    const row = page.locator('.hook').first();
    await row.getByText('%').waitFor();
    const p95 = row.locator('.measure').filter({ hasText: 'p95, last hour' }).locator('b');
    expect(await p95.textContent()).toMatch(expected);
  });

  it('shows what was delivered and what failed in the last day as bars, and says their sums', async () => {
    const { page, mock } = await show(null);
    await deliveredOnly(page, 1);
    await page.goto(mock.link('/console/webhooks'));
    const bars = page
      .locator('.hook')
      .first()
      .getByRole('img', { name: /^Last 24 hours: \d+ delivered, \d+ failed$/ });
    await bars.waitFor();
    expect(await bars.locator('rect').count()).toBeGreaterThan(0);
  });

  it('tests its URL, and shows the cause of a failure and its remedy below', async () => {
    const { page, mock } = await show(null);
    const result = { status: 401, error: null, reason: null, durationMs: 12 };
    await page.route('**/api/webhooks/102/test', (route) =>
      route.fulfill({ json: { success: false, message: 'refused', result } }),
    );
    await page.goto(mock.link('/console/webhooks'));
    const row = page.locator('.hook').filter({ hasText: 'erp.example.com' }).first();
    await row.getByRole('button', { name: 'Test', exact: true }).click();
    await row.getByText('Check which header or key it expects').waitFor();
    expect(await page.locator('.test:not(:empty)').count()).toBe(1);
  });
});
