/** When the page calls a URL a problem, and how long it says that it lasts. */
import type { Page } from 'playwright-core';
import { describeOnMock } from './on-mock.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

describeOnMock('a URL that fails', (show) => {
  /** All other URLs are well. */
  async function failing(page: Page, since: number, change: object = {}): Promise<void> {
    const begun = Date.now();
    const ago = (ms: number) => new Date(begun - ms).toISOString();
    await page.clock.setFixedTime(begun);
    await page.route('**/api/webhooks/health', async (route) => {
      const response = await route.fetch();
      const { webhooks } = (await response.json()) as { webhooks: { webhookId: number; state: string }[] };
      const shown = webhooks.map((health) => {
        if (health.webhookId !== 102) return { ...health, state: 'healthy', held: 0 };
        const deactivatesAt = ago(since - 120 * HOUR);
        return {
          ...health,
          since: ago(since),
          deactivatesAt,
          lastSuccessAt: ago(since + SECOND),
          waiting: 1,
          ...change,
        };
      });
      await route.fulfill({ response, json: { webhooks: shown } });
    });
  }

  it('is no problem yet after its first failure', async () => {
    const { page, mock } = await show(null);
    await failing(page, 6 * SECOND);
    await page.goto(mock.link());
    await page.getByText('All 5 webhooks deliver').waitFor();
    await page.goto(`${mock.url}/console/webhooks`);
    await page.getByText('Healthy').nth(4).waitFor();
    expect(await page.getByText('Failing').count()).toBe(0);
  });

  it.each([
    ['two deliveries wait', 6 * SECOND, { waiting: 2 }],
    ['it has failed for a minute', MINUTE, {}],
    ['it never accepted anything', 6 * SECOND, { lastSuccessAt: null }],
  ])('is a problem once %s', async (_, since, change) => {
    const { page, mock } = await show(null);
    await failing(page, since, change);
    await page.goto(mock.link());
    await page.locator('.problem.bad').waitFor();
  });

  it.each([
    [65 * SECOND, 'Failing for 1 min 5 sec', 'in 5 day'],
    [10 * MINUTE + 31 * SECOND, 'Failing for 11 min', 'in 5 day'],
    [2 * HOUR + 13 * MINUTE, 'Failing for 2 hr 13 min', 'in 4 day 22 hr'],
    [23.8 * HOUR, 'Failing for 1 day', 'in 4 day'],
  ])('for %d ms has rounded durations', async (since, lasting, off) => {
    const { page, mock } = await show(null);
    await failing(page, since);
    await page.goto(mock.link());
    const problem = page.locator('.problem.bad');
    await problem.waitFor();
    const text = (await problem.textContent())?.replace(/(day|hr|min|sec)s/g, '$1');
    expect(text).toContain(lasting);
    expect(text).toContain(`Will be switched off ${off}`);
  });

  it('is switched off at its next failed attempt once the time for it has passed', async () => {
    const { page, mock } = await show(null);
    await failing(page, 122 * HOUR);
    await page.goto(mock.link());
    await page.locator('.problem.bad').getByText('Will be switched off at its next failed attempt').waitFor();
    expect(await page.getByText('Will be switched off', { exact: false }).count()).toBe(1);
  });
});
