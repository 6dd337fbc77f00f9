/** The webhooks of an account, in a browser: added, tested, edited, paused and removed. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { findBrowser, launch, openPage, seriousFindings, type WatchedPage } from './browser.js';
import { type MockApi, startMockApi } from './mock-api.js';
import { REFUSING_URL } from './mock-webhooks.js';

const executable = findBrowser();

if (executable) describe('Webhooks', () => tests(executable));
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

  const rowOf = (page: Page, url: string) => page.locator('.hook').filter({ hasText: new URL(url).host });

  it('show their state by event type, and each row leads to its webhook', async () => {
    const { page } = opened;
    await page.goto(mock.link('/console/webhooks'));
    await page.getByText('2 of 3 used').waitFor();
    expect(await page.locator('.hook .badge').allTextContents()).toEqual([
      ...['Healthy', 'Healthy', 'Failing', 'Healthy', 'Off'],
    ]);
    await page.locator('.hook a').first().click();
    await page.waitForURL('**/console/webhooks/101');
    await page.getByText('X-Api-Key, Authorization').waitFor();
    await page.locator('td.event').first().waitFor();
    const changes = page.locator('section').filter({ has: page.getByRole('heading', { name: 'Changes' }) });
    await changes.locator('tbody tr').first().waitFor();
    expect(await changes.locator('tbody tr').allTextContents()).toEqual([expect.stringContaining('maria')]);
    expect(await page.content()).not.toContain('k-123');
  });

  it('are added once their wrong fields, each with its error beside it, are corrected', async () => {
    const { page } = opened;
    await page.goto(mock.link('/console/webhooks'));
    await page.getByRole('button', { name: 'Add webhook' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add a webhook' });
    await dialog.getByLabel('URL').fill('http://new.example.com');
    await dialog.getByRole('button', { name: 'Add header' }).click();
    await dialog.getByLabel('Name of header 1').fill('Host');
    await dialog.getByRole('button', { name: 'Save', exact: true }).click();
    await dialog.getByText('must be an https URL').waitFor();
    await expectDescribed(page, 'URL', 'must be an https URL');
    await expectDescribed(page, 'Name of header 1', 'is set by the service');
    await dialog.getByLabel('URL').fill('https://new.example.com');
    await dialog.getByLabel('Name of header 1').fill('X-Key');
    await dialog.getByLabel('Value of header 1').fill('v');
    await dialog.getByRole('button', { name: 'Save', exact: true }).click();
    await rowOf(page, 'https://new.example.com').getByText('Never tried').waitFor();
    await page.getByText('3 of 3 used').waitFor();
    await page.getByRole('button', { name: 'Add webhook' }).click();
    await dialog.getByText('Three URLs of this type are active').waitFor();
    expect(await dialog.getByRole('button', { name: 'Save', exact: true }).isDisabled()).toBe(true);
  });

  async function expectDescribed(page: Page, label: string, text: string): Promise<void> {
    const field = page.getByLabel(label, { exact: true });
    const described = await field.getAttribute('aria-describedby');
    expect(await page.locator(`[id="${described}"]`).textContent()).toBe(text);
    expect(await field.getAttribute('aria-invalid')).toBe('true');
  }

  it('are saved and tested in one step, with the cause of a failure and its remedy', async () => {
    const { page } = opened;
    await page.goto(mock.link('/console/webhooks'));
    await page.getByRole('button', { name: 'Add webhook' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('URL').fill(REFUSING_URL);
    await dialog.getByRole('button', { name: 'Save and test' }).click();
    await dialog.getByText('The receiver refuses our request.').waitFor();
    await dialog.getByText('Check which header or key it expects').waitFor();
    await page.keyboard.press('Escape');
    await rowOf(page, REFUSING_URL).waitFor();
  });

  it('keep their header values when they are edited', async () => {
    const { page } = opened;
    await page.goto(mock.link('/console/webhooks/101'));
    await page.getByRole('button', { name: 'Edit…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Edit webhook' });
    await dialog.getByRole('button', { name: 'Add header' }).click();
    await dialog.getByLabel('Name of header 3').fill('X-More');
    await dialog.getByLabel('Value of header 3').fill('more');
    await dialog.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('X-Api-Key, Authorization, X-More').waitFor();
    expect(mock.account.webhooks.find(({ id }) => id === 101)?.headers).toEqual({
      ...{ 'X-Api-Key': 'k-123', Authorization: 'Bearer abc', 'X-More': 'more' },
    });
  });

  it('are paused after a question, and activated without one', async () => {
    const { page } = opened;
    await page.goto(mock.link('/console/webhooks/101'));
    await page.getByRole('button', { name: 'Pause…' }).click();
    await page.getByRole('dialog', { name: 'Pause this webhook?' }).getByRole('button', { name: 'Pause' }).click();
    await page.getByText('Paused by your account').waitFor();
    await page.getByRole('button', { name: 'Activate' }).click();
    await page.getByRole('button', { name: 'Pause…' }).waitFor();
  });

  it('are removed only after a question', async () => {
    const { page } = opened;
    await page.goto(mock.link('/console/webhooks/101'));
    await page.getByRole('button', { name: 'Remove…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Remove this webhook?' });
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    expect(mock.account.webhooks).toHaveLength(5);
    await page.getByRole('button', { name: 'Remove…' }).click();
    await dialog.getByRole('button', { name: 'Remove' }).click();
    await page.waitForURL('**/console/webhooks');
    await page.getByText('1 of 3 used').first().waitFor();
    expect(mock.account.webhooks).toHaveLength(4);
  });

  it('that the service switched off say what is held, and are activated before they are recovered', async () => {
    const { page } = opened;
    await page.goto(mock.link('/console/webhooks/105'));
    await page.getByText('2,703 held').waitFor();
    expect(await page.getByRole('button', { name: 'Recover…' }).count()).toBe(0);
    await page.locator('.problem').getByRole('button', { name: 'Activate' }).click();
    await page.getByRole('button', { name: 'Recover…' }).first().click();
    await page.getByRole('dialog', { name: 'Recover deliveries' }).waitFor();
  });

  it('have no actions in a session that may only read', async () => {
    const readOnly = await startMockApi(100, ['read']);
    const { page } = opened;
    await page.goto(readOnly.link('/console/webhooks'));
    await page.locator('.hook').first().waitFor();
    expect(await page.locator('main').getByRole('button').count()).toBe(0);
    await page.locator('.hook a').first().click();
    await page.locator('td.event').first().waitFor();
    expect(
      await page
        .locator('main')
        .getByRole('button', { name: /^(?!Copy)/ })
        .count(),
    ).toBe(0);
    await readOnly.close();
  });

  it('begin, from an empty Overview, with a receiver in four languages', async () => {
    const empty = await startMockApi(0);
    const { page } = opened;
    await page.goto(empty.link());
    await page.getByRole('link', { name: 'Add a webhook' }).click();
    await page.getByText('standardwebhooks').first().waitFor();
    for (const [language, line] of [
      ['Python', 'import os'],
      ['PHP', 'hash_hmac'],
      ['Go', 'package main'],
    ] as const) {
      await page.getByLabel('Language', { exact: true }).selectOption(language);
      await page.getByText(line).waitFor();
    }
    await empty.close();
  });

  for (const colorScheme of ['light', 'dark'] as const) {
    for (const locale of ['en-GB', 'pt-BR']) {
      it(`have no serious finding of axe in ${colorScheme} and ${locale}`, async () => {
        const watched = await openPage(browser, { colorScheme, locale });
        for (const path of ['/console/webhooks', '/console/webhooks/105']) {
          await watched.page.goto(mock.link(path));
          await watched.page.locator('.hook .measure, td.event').first().waitFor();
          expect({ path, found: await seriousFindings(watched.page) }).toEqual({ path, found: [] });
        }
        await watched.page.goto(mock.link('/console/webhooks'));
        await watched.page.locator('main .button.primary').first().click();
        await watched.page.locator('dialog form').waitFor();
        expect(await seriousFindings(watched.page)).toEqual([]);
        await watched.context.close();
        expect(watched.wrongs).toEqual([]);
      });
    }
  }
}
