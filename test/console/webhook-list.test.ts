/** The rows of the Webhooks screen: the figures of the last day. */
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
});
