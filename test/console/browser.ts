/** Pages of a Chromium, as it is installed on this machine, for the tests of one file; each fails for what its pages did wrong. */
import { createServer } from 'node:http';
import axe from 'axe-core';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { patience } from '../runner/patience.js';
import { findBrowser, launch } from '../support/clients/chromium.js';
import { eventually } from '../support/clocks/eventually.js';
import { listen } from '../support/servers/receiver.js';

/** Of each step of a page, on a quiet machine. */
const PATIENCE_MS = 30_000;

export interface Opening extends BrowserContextOptions {
  /** Of the requests that fail, those that are expected to, as in `404 GET /path`. */
  readonly refused?: RegExp;
  /** True: never signed in, so the console asks before a link signs it in. Default: it was in the account of each link. */
  readonly isNew?: boolean;
  /** False for what a page of another origin does wrong. Default: true. */
  readonly isWatched?: boolean;
}

/** Opens a page in a context of its own, until the test ends. */
export type Open = (opening?: Opening) => Promise<Page>;

/** Skipped, which it says in capitals, without a Chromium. @param tests declares them */
export function describeInBrowser(name: string, tests: (open: Open) => void): void {
  const executable = findBrowser();
  if (executable) describe(name, () => tests(opener(executable)));
  else it.skip('NO CHROMIUM: THE CONSOLE IS NOT TRIED. SET CHROMIUM TO ITS PATH', () => undefined);
}

/** Launches one for the file: with one for all each call passes through jest's process, which took 6 to 15 % longer. */
function opener(executablePath: string): Open {
  let browser: Browser;
  const contexts: BrowserContext[] = [];
  const wrongs: string[] = [];
  beforeAll(async () => {
    browser = await launch(executablePath);
  });
  afterAll(() => browser.close());
  afterEach(async () => {
    for (const context of contexts.splice(0)) await context.close();
    expect(wrongs.splice(0)).toEqual([]);
  });
  return async ({ refused, isWatched = true, isNew = false, ...options } = {}) => {
    const context = await browser.newContext({ locale: 'en-GB', timezoneId: 'America/Sao_Paulo', ...options });
    contexts.push(context);
    context.setDefaultTimeout(PATIENCE_MS * patience());
    const page = await context.newPage();
    await page.addInitScript(COUNT_CLICKS);
    if (!isNew) await page.addInitScript(SIGNED_IN_BEFORE);
    if (isWatched) watch(page, refused, wrongs);
    return page;
  };
}

/** By the mouse: a label's click is followed by one of its field, which nobody does. */
const COUNT_CLICKS = `globalThis.clicks = 0; addEventListener('pointerdown', () => { clicks += 1; }, true)`;

/** The code of a link begins with its account. An embedded page may have no storage. */
const SIGNED_IN_BEFORE = `try {
  const account = /code=([0-9]+)/.exec(location.hash)?.[1];
  if (account) localStorage.setItem('console.account', account);
} catch {}`;

/** Since the page was loaded. */
export const clicksOn = (page: Page) => page.evaluate<number>('clicks');

/** Errors, violations of the Content-Security-Policy, dialogs of scripts, and requests that failed. */
function watch(page: Page, expected: RegExp | undefined, wrongs: string[]): void {
  const failed = (what: string, method: string, url: string) => {
    const text = `${what} ${method} ${new URL(url).pathname}`;
    if (!expected?.test(text)) wrongs.push(text);
  };
  page.on('pageerror', ({ message }) => wrongs.push(message));
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      wrongs.push(message.text());
  });
  page.on('dialog', async (dialog) => {
    wrongs.push(`dialog: ${dialog.message()}`);
    await dialog.dismiss();
  });
  page.on('response', (answer) => {
    if (answer.status() >= 400) failed(String(answer.status()), answer.request().method(), answer.url());
  });
  page.on('requestfailed', (request) => {
    const why = request.failure()?.errorText ?? '';
    // By the page itself, which leaves a screen.
    if (why !== 'net::ERR_ABORTED') failed(why, request.method(), request.url());
  });
}

/** Of serious and critical findings of axe: rule and elements. */
export async function seriousFindings(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(() =>
    (globalThis as unknown as { axe: typeof axe }).axe.run({ resultTypes: ['violations'] }),
  );
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`);
}

/** Pages of another origin. Served, since Chromium lets a page that only a test answers reach nothing on this machine. */
export type Outside = Awaited<ReturnType<typeof startOutside>>;

export async function startOutside() {
  const server = createServer((_, answer) => answer.setHeader('content-type', 'text/html').end('<!doctype html>'));
  const { port, close } = await listen(server);
  const at = (host: string) => `http://${host}:${port}/`;
  /** Waits until the browser has refused to show the URL in a frame. */
  const frameRefused = async (page: Page, url: string) => {
    await page.goto(at('127.0.0.1'));
    await page.setContent(`<iframe src="${url}"></iframe>`);
    const isRefused = () => page.frames().some((frame) => frame.url() === 'chrome-error://chromewebdata/');
    await eventually(isRefused, { message: 'the frame was not refused' });
  };
  return { at, frameRefused, close };
}
