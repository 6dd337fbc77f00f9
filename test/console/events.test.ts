/** All that was published, and the event types, in a browser. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { findBrowser, launch, openPage, seriousFindings, type WatchedPage } from './browser.js';
import { type MockApi, startMockApi } from './mock-api.js';

const executable = findBrowser();

if (executable) describe('Events', () => tests(executable));
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

  it('finds an event by its id, and opens its delivery', async () => {
    const { page } = opened;
    await page.goto(mock.link('/console/events'));
    const eventId = (await page.locator('td.event code').first().textContent()) ?? '';
    await page.getByRole('searchbox', { name: 'Find by event id' }).fill(eventId);
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/console/events?eventId=${eventId}`);
    await page.getByText('That is the only one.').waitFor();
    await page.locator('.destinations a').click();
    await page.getByRole('heading', { name: 'Timeline' }).waitFor();
    await page.getByText(eventId).first().waitFor();
  });

  it('says why an event went to nobody, and shows its payload when asked', async () => {
    const { page } = opened;
    await page.goto(mock.link('/console/events'));
    await page.getByText('no webhook was active for').first().waitFor();
    expect(await page.getByText('1250.10').count()).toBe(0);
    await page
      .getByRole('button', { name: /^Payload of/ })
      .first()
      .click();
    await page.getByText('1250.10').waitFor();
  });

  it('keeps type and period in the address', async () => {
    const { page } = opened;
    await page.goto(mock.link('/console/events'));
    await page.getByRole('combobox', { name: 'Event' }).selectOption('cash_out');
    await page.getByLabel('From').fill('2026-01-02T03:04');
    await page.waitForURL('**/console/events?eventType=cash_out&from=2026-01-02T06%3A04%3A00.000Z');
  });

  it('shows the event types with their schemas and examples', async () => {
    const { page } = opened;
    await page.goto(mock.link('/console/events'));
    await page.getByRole('link', { name: 'Event types' }).click();
    await page.getByText('Example of data', { exact: true }).click();
    await page.getByText('"150.00"').waitFor();
  });

  it('of an account without events says when there will be some', async () => {
    const empty = await startMockApi(0);
    await opened.page.goto(empty.link('/console/events'));
    await opened.page.getByRole('heading', { name: 'Nothing was published yet' }).waitFor();
    await empty.close();
  });

  it('of a session without the right “payloads” offers none', async () => {
    const readOnly = await startMockApi(100, ['read']);
    await opened.page.goto(readOnly.link('/console/events'));
    await opened.page.locator('td.event').first().waitFor();
    expect(await opened.page.getByRole('button', { name: /Payload/ }).count()).toBe(0);
    await readOnly.close();
  });

  for (const colorScheme of ['light', 'dark'] as const) {
    for (const locale of ['en-GB', 'pt-BR']) {
      it(`has no serious finding of axe in ${colorScheme} and ${locale}`, async () => {
        const watched = await openPage(browser, { colorScheme, locale });
        for (const path of ['/console/events', '/console/events?tab=types']) {
          await watched.page.goto(mock.link(path));
          await watched.page.locator('td.event, .types .card').first().waitFor();
          expect({ path, found: await seriousFindings(watched.page) }).toEqual({ path, found: [] });
        }
        await watched.context.close();
        expect(watched.wrongs).toEqual([]);
      });
    }
  }
}
