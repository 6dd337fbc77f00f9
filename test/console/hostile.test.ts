/**
 * Markup and invisible characters in each text that strangers write: URLs, header names, event ids, payloads, answers of receivers, users, reasons,
 * messages, and the page's own address. Markup is shown as text, and nothing in it runs; what is invisible is named.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Browser, Page, Route } from 'playwright-core';
import { findBrowser, launch, openPage, type WatchedPage } from './browser.js';
import { type MockApi, startMockApi } from './mock-api.js';
import { GIVEN_UP, SCREENS, type Screen, show } from './screens.js';

const RAN = 'globalThis.hostileRan = true';
const MARKUP = [
  `"'><script>${RAN}</script>`,
  `<img src="x" onerror="${RAN}">`,
  `<svg onload="${RAN}"></svg>`,
  `<a href="javascript:${RAN}">hostile</a>`,
  `</title></style></textarea><iframe srcdoc="<script>parent.${RAN}</script>"></iframe>`,
  `{{constructor.constructor('${RAN}')()}}\${${RAN}}<%= ${RAN} %>`,
].join('');
const INVISIBLE = `invisible characters ${RAN} \u202egnp.exe\u2066\u200b\ufeff\u00ad`;
const TEXTS = {
  markup: MARKUP,
  'what is invisible': INVISIBLE,
  'a javascript: URL': `javascript:${RAN}//https://example.com`,
};

/** Words and ids of the service's own. All other texts are hostile here, those of screens to come too. */
const OWN = new Set(
  ['id', 'deliveryId', 'cursor', 'next', 'type', 'eventType', 'outcome', 'trigger', 'state', 'offBy', 'step'].concat(
    ...['include', 'can', 'notSent', 'returnUrl'],
  ),
);
const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

function hostile(value: unknown, text: string, key = ''): unknown {
  if (typeof value === 'string') return OWN.has(key) || TIME.test(value) ? value : textFor(key, text);
  if (Array.isArray(value)) return value.map((one) => hostile(one, text, key));
  if (typeof value !== 'object' || value === null) return value;
  if (key === 'headers') return { [text]: text };
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, hostile(one, text, name)]));
}

const textFor = (key: string, text: string) =>
  key === 'payload' ? JSON.stringify({ [text]: [text, { text }] }) : text;

/** Run in the page, whose types these tests do not have. */
const WATCH = `globalThis.violations = [];
  addEventListener('securitypolicyviolation', ({ violatedDirective, sample }) =>
    violations.push(violatedDirective + ' ' + sample));`;
const LOOK = `({
  hasRun: globalThis.hostileRan === true,
  violations,
  elements: document.querySelectorAll('img, iframe, script:not([src]), [onload], [onerror], [srcdoc]').length,
  // Of what stands around them.
  reordered: [...document.querySelectorAll('bdi')].filter((one) => getComputedStyle(one).unicodeBidi !== 'isolate').length,
  invisible: [
    ...[...document.querySelectorAll('title, body, body *')].flatMap((one) =>
      [...one.childNodes].filter(({ nodeType }) => nodeType === 3).map(({ data }) => data)),
    ...[...document.querySelectorAll('[title], [aria-label]')].map((one) => one.title + one.ariaLabel),
  ].filter((text) => /[\u200b\u202a-\u202e\u2066\ufeff\u00ad]/.test(text)),
  links: [...document.links].map(({ href }) => href).filter((href) => !/^https?:/.test(href)),
})`;

const executable = findBrowser();

if (executable) describe('markup of strangers', () => tests(executable));
else it.skip('NO CHROMIUM: THE CONSOLE IS NOT TRIED. SET CHROMIUM TO ITS PATH', () => undefined);

function tests(executablePath: string): void {
  let browser: Browser;
  let mock: MockApi;
  let opened: WatchedPage;
  let dialogs: string[];

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
    dialogs = [];
    opened.page.on('dialog', async (dialog) => {
      dialogs.push(dialog.message());
      await dialog.dismiss();
    });
    await opened.page.addInitScript(WATCH);
  });
  afterEach(() => opened.context.close());

  const answerWith = (text: string) => async (route: Route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: hostile(await response.json(), text) });
  };

  async function expectHarmless(page: Page): Promise<void> {
    const found = await page.evaluate(LOOK);
    expect(found).toEqual({ hasRun: false, violations: [], elements: 0, reordered: 0, invisible: [], links: [] });
    expect({ dialogs, wrongs: opened.wrongs }).toEqual({ dialogs: [], wrongs: [] });
  }

  const rows = Object.entries(TEXTS).flatMap(([kind, text]) =>
    SCREENS.map((screen): [string, string, string, Screen] => [kind, screen.name, text, screen]),
  );

  it.each(rows)('%s is text on %s', async (_kind, _name, text, screen) => {
    const { page } = opened;
    await page.route(/\/(api\/|console\/session$)/, answerWith(text));
    await show(page, mock, screen);
    const shown = page.locator(screen.button ? 'dialog' : 'main');
    await shown.filter({ hasText: text.slice(0, 20) }).waitFor();
    await page.getByRole('button', { name: RAN, includeHidden: true }).first().waitFor({ state: 'attached' });
    await expectHarmless(page);
  });

  it.each([
    ['an id', `/console/deliveries/${encodeURIComponent(MARKUP)}`],
    ['a filter', `/console/deliveries?eventId=${encodeURIComponent(MARKUP)}`],
  ])('markup is text as %s of the address', async (_kind, path) => {
    const { page } = opened;
    await page.goto(mock.link(path));
    await page.locator('main').filter({ hasText: '<svg onload' }).waitFor();
    await expectHarmless(page);
  });

  it.each(['range', 'outcome', 'eventType', 'webhookId', 'status', 'from'])(
    'markup and names of Object.prototype in the address are ignored as %s',
    async (filter) => {
      const { page } = opened;
      for (const value of [MARKUP, '__proto__', 'constructor']) {
        for (const path of ['/console', '/console/deliveries']) {
          await page.goto(mock.link(`${path}?${filter}=${encodeURIComponent(value)}`));
          await page.getByRole('heading', { level: 1 }).waitFor();
          await expectHarmless(page);
        }
      }
    },
  );

  it('markup is text in the message of a refusal', async () => {
    const { page } = opened;
    await page.route('**/resend', (route) => route.fulfill({ status: 409, json: { success: false, message: MARKUP } }));
    await page.goto(mock.link(`/console/deliveries/${GIVEN_UP}`));
    await page.getByRole('button', { name: 'Resend now' }).click();
    await page.getByRole('status').filter({ hasText: '<svg onload' }).waitFor();
    await expectHarmless(page);
  });
}
