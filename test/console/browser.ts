/** A Chromium for the tests, as it is installed on this machine; and what a page did wrong. */
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import axe from 'axe-core';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { eventually } from '../support/eventually.js';
import { listen } from '../support/receiver.js';

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

/** Pages of another origin. Served, since Chromium lets a page that only a test answers reach nothing on this machine. */
export interface Outside {
  at(host: string): string;
  /** Waits until the browser has refused to show the URL in a frame. */
  frameRefused(page: Page, url: string): Promise<void>;
  close(): Promise<void>;
}

export async function startOutside(): Promise<Outside> {
  const server = createServer((_, answer) => answer.setHeader('content-type', 'text/html').end('<!doctype html>'));
  const { port, close } = await listen(server);
  const at = (host: string) => `http://${host}:${port}/`;
  const frameRefused = async (page: Page, url: string) => {
    await page.goto(at('127.0.0.1'));
    await page.setContent(`<iframe src="${url}"></iframe>`);
    const isRefused = () => page.frames().some((frame) => frame.url() === 'chrome-error://chromewebdata/');
    await eventually(isRefused, { message: 'the frame was not refused' });
  };
  return { at, frameRefused, close };
}
