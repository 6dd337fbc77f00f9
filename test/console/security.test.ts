/** Signing secrets and sessions, in a browser. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { findBrowser, launch, openPage, seriousFindings, type WatchedPage } from './browser.js';
import { type MockApi, startMockApi } from './mock-api.js';
import { NEW_SECRET } from './mock-views.js';

const executable = findBrowser();

if (executable) describe('Security', () => tests(executable));
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

  it('shows a new secret once, after a question', async () => {
    const { page } = opened;
    await page.goto(mock.link('/console/security'));
    await page.getByRole('button', { name: 'Rotate…' }).click();
    await page.getByText('For 24 hours deliveries are signed with the new and the previous secret').waitFor();
    await page.getByRole('button', { name: 'Issue a new secret' }).click();
    await page.getByText(NEW_SECRET).waitFor();
    await page.keyboard.press('Escape');
    expect(await page.getByText(NEW_SECRET).count()).toBe(1);
    await page.getByRole('button', { name: 'I have stored it' }).click();
    await page.locator('.secrets li').nth(1).waitFor();
    expect(await page.content()).not.toContain(NEW_SECRET);
    await page.reload();
    await page.locator('.secrets li').nth(1).waitFor();
    expect(await page.content()).not.toContain(NEW_SECRET);
  });

  it('ends the session of another, and marks its own', async () => {
    const { page } = opened;
    await page.goto(mock.link('/console/security'));
    const row = page.getByRole('row').filter({ hasText: 'joao-1' });
    await page.getByRole('row').filter({ hasText: 'this session' }).filter({ hasText: 'maria' }).waitFor();
    await row.getByRole('button', { name: 'End…' }).click();
    await page.getByRole('dialog', { name: 'End the session of joao-1?' }).waitFor();
    await page.getByRole('button', { name: 'End session' }).click();
    await row.waitFor({ state: 'detached' });
    await page.getByText('The session has ended.').waitFor();
  });

  it('of a session that may only read has no action, and says what is missing', async () => {
    const readOnly = await startMockApi(100, ['read']);
    await opened.page.goto(readOnly.link('/console/security'));
    await opened.page.getByRole('heading', { name: 'This session may not manage secrets.' }).waitFor();
    expect(await opened.page.getByRole('button', { name: /Rotate|End/ }).count()).toBe(0);
    await readOnly.close();
  });

  for (const colorScheme of ['light', 'dark'] as const) {
    for (const locale of ['en-GB', 'pt-BR']) {
      it(`has no serious finding of axe in ${colorScheme} and ${locale}`, async () => {
        const watched = await openPage(browser, { colorScheme, locale });
        for (const path of ['/console/security']) {
          await watched.page.goto(mock.link(path));
          await watched.page.locator('.secrets li').first().waitFor();
          expect({ path, found: await seriousFindings(watched.page) }).toEqual({ path, found: [] });
        }
        await watched.context.close();
        expect(watched.wrongs).toEqual([]);
      });
    }
  }
}
