/** A Chromium for the tests, as it is installed on this machine; and what a page did wrong. */
import { existsSync } from 'node:fs';
import axe from 'axe-core';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';

const PLACES = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

const PAGE = new URL('../../dist/console/index.html', import.meta.url);

/** Null: there is none, and its tests are skipped. @throws if REQUIRE_BROWSER is set, or there is no page to show */
export function findBrowser(): string | null {
  const found = process.env.CHROMIUM ?? PLACES.find((place) => existsSync(place));
  if (!found && process.env.REQUIRE_BROWSER) throw new Error('the tests of the console need a Chromium: set CHROMIUM');
  if (found && !existsSync(PAGE)) throw new Error('there is no dist/console to show: run make build first');
  return found ?? null;
}

export function launch(executablePath: string): Promise<Browser> {
  // Root has no sandbox.
  return chromium.launch({ executablePath, args: process.getuid?.() === 0 ? ['--no-sandbox'] : [] });
}

export interface WatchedPage {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Errors, and violations of the Content-Security-Policy. Failed requests are not among them. */
  readonly wrongs: readonly string[];
}

export async function openPage(browser: Browser, options: BrowserContextOptions = {}): Promise<WatchedPage> {
  const context = await browser.newContext({ locale: 'en-GB', timezoneId: 'America/Sao_Paulo', ...options });
  const page = await context.newPage();
  const wrongs: string[] = [];
  page.on('pageerror', ({ message }) => wrongs.push(message));
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      wrongs.push(message.text());
  });
  return { page, context, wrongs };
}

/** Of serious and critical findings of axe: rule and elements. */
export async function seriousFindings(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(() => (globalThis as unknown as { axe: typeof axe }).axe.run());
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`);
}
