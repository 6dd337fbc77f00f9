/** An account with nothing in it: each screen says why, and what comes next. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { findBrowser, launch, openPage, type WatchedPage } from './browser.js';
import { type MockApi, startMockApi } from './mock-api.js';

const executable = findBrowser();

if (executable) describe('an empty account', () => tests(executable));
else it.skip('NO CHROMIUM: THE CONSOLE IS NOT TRIED. SET CHROMIUM TO ITS PATH', () => undefined);

function tests(executablePath: string): void {
  let browser: Browser;
  let mock: MockApi;
  let opened: WatchedPage;

  beforeAll(async () => {
    browser = await launch(executablePath);
    mock = await startMockApi(0);
  });
  afterAll(async () => {
    await browser.close();
    await mock.close();
  });
  beforeEach(async () => {
    opened = await openPage(browser);
  });
  afterEach(async () => {
    await opened.context.close();
    expect(opened.wrongs).toEqual([]);
  });

  it.each([
    ['/console', 'No webhooks yet', 'Add a webhook'],
    ['/console/deliveries', 'No deliveries yet', 'See webhooks'],
    ['/console/events', 'Nothing was published yet', 'See event types'],
    ['/console/history', 'No webhooks yet', 'Add a webhook'],
  ])('%s says %s, and leads on', async (path, title, link) => {
    const { page } = opened;
    await page.goto(mock.link(path));
    const notice = page.locator('.notice').filter({ hasText: title });
    await notice.getByRole('link', { name: link }).click();
    await page.getByRole('heading', { level: 1, name: /Webhooks|Events/ }).waitFor();
  });

  it('leads from a time without webhooks back to now', async () => {
    const { page } = opened;
    await page.goto(mock.link('/console/history?at=2026-01-01T00:00:00.000Z'));
    const notice = page.locator('.notice').filter({ hasText: 'No webhooks at that time' });
    await notice.getByRole('link', { name: 'Back to now' }).click();
    await page.waitForURL('**/console/history');
  });

  it('has no table of changes where a page of them is empty', async () => {
    const { page } = opened;
    await page.route('**/api/history?*', (route) => route.fulfill({ json: { events: [], next: null } }));
    await page.goto(mock.link('/console/history?before=0'));
    await page.getByText('No changes here').waitFor();
    expect(await page.getByRole('table').count()).toBe(0);
    await page.getByRole('link', { name: 'Back to newest' }).click();
    await page.waitForURL('**/console/history');
  });
}
