/** When the page calls a URL a problem, and how long it says that it lasts. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { findBrowser, launch, openPage, type WatchedPage } from './browser.js';
import { type MockApi, startMockApi } from './mock-api.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

const executable = findBrowser();

if (executable) describe('a URL that fails', () => tests(executable));
else it.skip('NO CHROMIUM: THE CONSOLE IS NOT TRIED. SET CHROMIUM TO ITS PATH', () => undefined);

function tests(executablePath: string): void {
  let browser: Browser;
  let mock: MockApi;
  let opened: WatchedPage;
  let begun: number;

  beforeAll(async () => {
    browser = await launch(executablePath);
    mock = await startMockApi(1_000);
  });
  afterAll(async () => {
    await browser.close();
    await mock.close();
  });
  beforeEach(async () => {
    opened = await openPage(browser);
    begun = Date.now();
    await opened.page.clock.setFixedTime(begun);
  });
  afterEach(async () => {
    await opened.context.close();
    expect(opened.wrongs).toEqual([]);
  });

  const ago = (ms: number) => new Date(begun - ms).toISOString();

  /** All other URLs are well. */
  async function failing(page: Page, since: number, change: object = {}): Promise<void> {
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
    const { page } = opened;
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
    const { page } = opened;
    await failing(page, since, change);
    await page.goto(mock.link());
    await page.locator('.problem.failing').waitFor();
  });

  it.each([
    [65 * SECOND, 'Failing for 1 min 5 sec', 'in 5 day'],
    [10 * MINUTE + 31 * SECOND, 'Failing for 11 min', 'in 5 day'],
    [2 * HOUR + 13 * MINUTE, 'Failing for 2 hr 13 min', 'in 4 day 22 hr'],
    [23.8 * HOUR, 'Failing for 1 day', 'in 4 day'],
  ])('for %d ms has rounded durations', async (since, lasting, off) => {
    const { page } = opened;
    await failing(page, since);
    await page.goto(mock.link());
    const problem = page.locator('.problem.failing');
    await problem.waitFor();
    const text = (await problem.textContent())?.replace(/(day|hr|min|sec)s/g, '$1');
    expect(text).toContain(lasting);
    expect(text).toContain(`Will be switched off ${off}`);
  });
}
