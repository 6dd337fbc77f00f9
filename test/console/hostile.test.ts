/**
 * Markup and characters that reorder in each text that strangers write: URLs, header names, event ids, payloads, answers of
 * receivers, users, reasons, messages, and the page's own address. Markup is shown as text, and nothing in it runs.
 */
import type { Page } from 'playwright-core';
import { describeOnDay, type Show } from './day.js';
import { screensOf, showScreen } from './screens.js';

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
    ...['include', 'can', 'notSent', 'returnUrl', 'arrived'],
  ),
);
const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

function hostile(value: unknown, text: string, key = ''): unknown {
  if (typeof value === 'string') return OWN.has(key) || TIME.test(value) ? value : textFor(key, text);
  if (Array.isArray(value)) return value.map((one) => hostile(one, text, key));
  if (typeof value !== 'object' || value === null) return value;
  if (key === 'headers') return { [text]: text };
  const changed = Object.fromEntries(Object.entries(value).map(([name, one]) => [name, hostile(one, text, name)]));
  // Webhooks of one URL would be one.
  return 'url' in value && 'id' in value ? { ...changed, url: `${text}/${value.id}` } : changed;
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
  links: [...document.links].map(({ href }) => href).filter((href) => !/^https?:/.test(href)),
})`;

describeOnDay('markup of strangers', (show) => {
  it.each(Object.entries(TEXTS))('%s is text on each screen', async (_, text) => {
    const { page, day } = await watched(show);
    day.proxy.altered = (body) => hostile(body, text);
    for (const screen of await screensOf(day)) {
      await showScreen(page, day, screen);
      const shown = page.locator(screen.button ? 'dialog' : 'main');
      await shown.filter({ hasText: text.slice(0, 20) }).waitFor();
      await page.getByRole('button', { name: RAN, includeHidden: true }).first().waitFor({ state: 'attached' });
      await expectHarmless(page, screen.name);
    }
  });

  it.each([
    ['an id', `/console/deliveries/${encodeURIComponent(MARKUP)}`],
    ['an id of a payment', `/console/payments/${encodeURIComponent(MARKUP)}`],
  ])('markup is text as %s of the address, which nothing has', async (_kind, path) => {
    const { page, day } = await watched(show);
    await page.goto(day.proxy.url + path);
    await page.locator('main').filter({ hasText: '<svg onload' }).waitFor();
    await page.getByRole('heading', { name: 'Nothing has this id' }).waitFor();
    await expectHarmless(page, path);
  });

  it('markup and names of Object.prototype are ignored as filters of the address', async () => {
    const { page, day } = await watched(show);
    for (const value of [MARKUP, '__proto__', 'constructor']) {
      const filters = ['range', 'arrived', 'eventType', 'url', 'status', 'from', 'who', 'kind'];
      const query = new URLSearchParams(Object.fromEntries(filters.map((filter) => [filter, value])));
      for (const path of ['/console', '/console/payments', '/console/history']) {
        await page.goto(`${day.proxy.url}${path}?${query}`);
        await page.getByRole('heading', { level: 1 }).waitFor();
        await expectHarmless(page, `${path}?${query}`);
      }
    }
  });

  it('markup is text in the message of a refusal', async () => {
    const { page, day } = await watched(show);
    await page.route('**/resend', (route) => route.fulfill({ status: 409, json: { success: false, message: MARKUP } }));
    await page.goto(`${day.proxy.url}/console/deliveries/${await day.delivery('/notify', 'exhausted')}`);
    await page.getByRole('button', { name: 'Resend now' }).click();
    await page.getByRole('status').filter({ hasText: '<svg onload' }).waitFor();
    await expectHarmless(page, 'a refusal');
  });
});

async function watched(show: Show) {
  const shown = await show('/', { refused: /^4\d\d / });
  await shown.page.addInitScript(WATCH);
  return shown;
}

async function expectHarmless(page: Page, where: string): Promise<void> {
  const found = { where, ...(await page.evaluate<object>(LOOK)) };
  expect(found).toEqual({ where, hasRun: false, violations: [], elements: 0, reordered: 0, links: [] });
}
