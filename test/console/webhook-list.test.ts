/** The rows of the Webhooks screen: the figures of the last day, and a test from there. */
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

  it.each(['/console/webhooks', '/console/webhooks/105'])(
    'says at %s what a webhook loses that is paused',
    async (path) => {
      const { page, mock } = await show(null);
      await page.route('**/api/webhooks/health', async (route) => {
        const response = await route.fetch();
        const { webhooks } = (await response.json()) as { webhooks: { webhookId: number }[] };
        const paused = { state: 'off', offBy: 'account', held: 0 };
        const shown = webhooks.map((one) => (one.webhookId === 105 ? { ...one, ...paused } : one));
        await route.fulfill({ response, json: { webhooks: shown } });
      });
      await page.goto(mock.link(path));
      await page.getByText('No event is kept since.').waitFor();
      expect(await page.locator('.hook-name, dd').filter({ hasText: 'No event is kept' }).textContent()).toMatch(
        /Paused by your account 1 day ago No event is kept since\./,
      );
    },
  );

  // Its names are longer in Portuguese.
  it.each([1920, 1541, 1400, 1280, 1100])('has its figures in one line at a width of %d', async (width) => {
    const { page } = await show('/console/webhooks', { locale: 'pt-BR', viewport: { width, height: 900 } });
    const row = page.locator('.hook').nth(1);
    await row.getByText('%').waitFor();
    const lines = await row.locator('.measure').evaluateAll((all) =>
      all
        .filter((one) => one.checkVisibility())
        .map((one) => {
          const name = one.lastElementChild?.getBoundingClientRect();
          return { height: name?.height, isCut: one.scrollWidth > one.clientWidth };
        }),
    );
    expect(lines.length).toBeGreaterThanOrEqual(3);
    expect(new Set(lines.map(({ height }) => height)).size).toBe(1);
    expect(lines.some(({ isCut }) => isCut)).toBe(false);
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

  it('says when a URL that keeps failing can be tested again', async () => {
    const { page, mock } = await show(null, { refused: /\/test$/ });
    await page.route('**/api/webhooks/102/test', (route) =>
      route.fulfill({
        status: 429,
        headers: { 'retry-after': '12' },
        json: { success: false, message: 'this URL keeps failing; Retry-After says when to try again' },
      }),
    );
    await page.goto(mock.link('/console/webhooks'));
    const row = page.locator('.hook').filter({ hasText: 'erp.example.com' }).first();
    await row.getByRole('button', { name: 'Test', exact: true }).click();
    await row.getByText(/It can be sent in 12 secs?[.]/).waitFor();
  });
});
