/** Who changed what, and the list of webhooks as it stood, in a browser. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { findBrowser, launch, openPage, seriousFindings, type WatchedPage } from './browser.js';
import { type MockApi, startMockApi } from './mock-api.js';
import { REMOVED_URL } from './mock-views.js';

const executable = findBrowser();

if (executable) describe('History', () => tests(executable));
else it.skip('NO CHROMIUM: THE CONSOLE IS NOT TRIED. SET CHROMIUM TO ITS PATH', () => undefined);

function tests(executablePath: string): void {
  let browser: Browser;
  let mock: MockApi;
  let opened: WatchedPage;

  beforeAll(async () => {
    browser = await launch(executablePath);
  });
  afterAll(() => browser.close());

  beforeEach(async () => {
    mock = await startMockApi(100_000);
    opened = await openPage(browser);
  });
  afterEach(async () => {
    await opened.context.close();
    await mock.close();
    expect(opened.wrongs).toEqual([]);
  });

  it('goes back change by change, and says what differs from now', async () => {
    const { page } = opened;
    await page.goto(mock.link('/console/history'));
    const back = page.getByRole('button', { name: 'Previous change' });
    for (let change = 0; change < 3; change += 1) {
      const url = page.url();
      await back.click();
      await page.waitForURL((to) => to.href !== url);
    }
    await page.getByText('Since then: 0 added, 0 removed, 1 changed.').waitFor();
    await page.goto(`${mock.url}/console/history?at=${new Date(Date.now() - 4 * 86_400_000).toISOString()}`);
    await page.getByText('Since then: 1 added, 1 removed, 1 changed.').waitFor();
    const removed = page.locator('.standings li.removed');
    expect(await removed.getByTitle(REMOVED_URL).count()).toBe(1);
    expect(await page.locator('.standings li.changed').textContent()).toContain('active now');
    await page.getByRole('button', { name: 'Back to now' }).click();
    await page.waitForURL('**/console/history');
  });

  it('moves by keyboard, with its time as text and in the address', async () => {
    const { page } = opened;
    await page.goto(mock.link('/console/history'));
    const slider = page.getByRole('slider', { name: 'Point in time' });
    await slider.focus();
    await page.keyboard.press('ArrowLeft');
    await page.waitForURL('**/console/history?at=*');
    expect(await slider.getAttribute('aria-valuetext')).toMatch(/20\d\d/);
  });

  it('lists who changed what, page by page', async () => {
    const { page } = opened;
    await page.goto(mock.link('/console/history'));
    await page.getByRole('link', { name: 'Webhook removed' }).waitFor();
    await page.getByRole('link', { name: 'Older' }).click();
    await page.waitForURL('**/console/history?before=*');
    await page.getByRole('link', { name: 'Back to newest' }).waitFor();
  });

  it('says how many changes its slider covers', async () => {
    const { page } = opened;
    await page.route('**/api/history?*', async (route) => {
      const response = await route.fetch({
        url: route
          .request()
          .url()
          .replace(/&before=.*/, ''),
      });
      const { events } = (await response.json()) as { events: object[] };
      await route.fulfill({ response, json: { events, next: 'more' } });
    });
    await page.goto(mock.link('/console/history'));
    await page.getByText(/^The slider covers the latest 1,000 changes, back to /).waitFor();
  });

  it('is linked from what changed during a delivery', async () => {
    const { page } = opened;
    await page.goto(mock.link('/console/deliveries/msg_6'));
    await page.getByText('Webhook changed by maria').waitFor();
    await page.getByRole('link', { name: 'headers X-Api-Key' }).click();
    await page.waitForURL('**/console/history?at=*');
    await page.getByRole('heading', { level: 1, name: 'History' }).waitFor();
  });

  it('keeps the list while the API fails', async () => {
    const { page } = opened;
    await page.goto(mock.link('/console/history'));
    await page.getByRole('link', { name: 'Webhook removed' }).waitFor();
    mock.fault = { status: 503 };
    await page
      .getByText(/The service answers 503. Shown as of/)
      .first()
      .waitFor();
    expect(await page.getByRole('link', { name: 'Webhook removed' }).count()).toBe(1);
  });

  for (const colorScheme of ['light', 'dark'] as const) {
    for (const locale of ['en-GB', 'pt-BR']) {
      it(`has no serious finding of axe in ${colorScheme} and ${locale}`, async () => {
        const watched = await openPage(browser, { colorScheme, locale });
        for (const path of [
          '/console/history',
          `/console/history?at=${new Date(Date.now() - 345_600_000).toISOString()}`,
        ]) {
          await watched.page.goto(mock.link(path));
          await watched.page.locator('.standings li').first().waitFor();
          expect({ path, found: await seriousFindings(watched.page) }).toEqual({ path, found: [] });
        }
        await watched.context.close();
        expect(watched.wrongs).toEqual([]);
      });
    }
  }
}
