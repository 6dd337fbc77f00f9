/**
 * From a link to the Overview's figures in a Chromium, with an empty cache each time: an account with 100 webhooks, of which
 * 100,000 deliveries within a day are in the view.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Browser } from 'playwright-core';
import { request } from 'undici';
import { SqliteBroker } from '../../src/adapters/sqlite/broker.js';
import { StoreFile } from '../../src/adapters/sqlite/store-file.js';
import { newDelivery } from '../../src/delivery/delivery.js';
import { logEntry, loggedAttempt, toLogRecord } from '../../src/delivery/log/log-record.js';
import { findBrowser, launch } from '../../test/support/chromium.js';
import { DELIVERED, failedWith, named, paymentRecord, received } from '../../test/support/delivery-samples.js';
import type { Settings } from '../../test/support/service.js';
import { openInstallation, startService } from '../support/installation.js';
import { populate } from '../support/population.js';
import type { Outcome, Row, Tell } from '../support/row.js';
import { ROUNDS } from '../support/sizes.js';
import { tokenOf } from '../support/tokens.js';

const ACCOUNT = 1;
const WEBHOOKS = 100;
const DELIVERIES = 100_000;
const A_RECORD = 100;
/** Within the 24 steps of an hour that the Overview shows. */
const SPAN_MS = 22 * 3_600_000;
const LOADS_A_ROUND = 5;

export const firstScreen: Row = {
  name: 'first-screen',
  title:
    'The console: from a link to the figures of the Overview, 100 webhooks and 100,000 deliveries, the slowest of five',
  figure: { kind: 'below', value: 1_000, unit: 'ms' },
  async run(tell) {
    const chromium = findBrowser();
    if (!chromium) return { kind: 'not measured', why: 'there is no Chromium: set CHROMIUM' };
    return await run(chromium, tell);
  },
};

async function run(chromium: string, tell: Tell): Promise<Outcome> {
  const installation = await openInstallation({ settings: { RATE_LIMIT_WRITES: '0' } });
  const urls = () => Array.from({ length: WEBHOOKS }, (_, n) => `https://localhost/${n}`);
  await populate(installation.settings, { accounts: 1, urls }, tell);
  await fill(installation.settings);
  const service = await startService(installation.settings);
  const browser = await launch(chromium);
  try {
    const token = await tokenOf(service.url, ACCOUNT);
    await caughtUp(service.url, token);
    await loadMs(browser, await linkOf(service.url, token));
    const rounds: number[][] = [];
    for (let round = 1; round <= ROUNDS; round += 1) {
      const times: number[] = [];
      for (let n = 0; n < LOADS_A_ROUND; n += 1) times.push(await loadMs(browser, await linkOf(service.url, token)));
      tell(`round ${round}: ${times.map((ms) => Math.round(ms)).join(', ')} ms`);
      rounds.push(times);
    }
    return { kind: 'measured', values: rounds.map((times) => Math.max(...times)), sides: [], notes: [] };
  } finally {
    await browser.close();
    await service.stop('SIGTERM');
    await installation.close();
  }
}

/** One in a hundred was given up. */
async function fill({ DATA_DIR = '' }: Settings): Promise<void> {
  const file = new StoreFile(DATA_DIR);
  const broker = new SqliteBroker(file);
  const now = Date.now();
  for (let first = 0; first < DELIVERIES; first += A_RECORD) {
    const deliveries = Array.from({ length: A_RECORD }, (_, n) => entryOf(first + n, now));
    await broker.publish('webhooks.deliveries', [toLogRecord({ deliveries })]);
  }
  await broker.close();
  file.close();
}

function entryOf(n: number, now: number) {
  const at = now - SPAN_MS + Math.floor((n * SPAN_MS) / DELIVERIES);
  const event = { id: `pay-${n}`, type: 'cash_in', accountId: ACCOUNT } as const;
  const record = received(paymentRecord(), { offset: n, timestamp: at });
  const delivery = newDelivery(event, named(1 + (n % WEBHOOKS)), record);
  const isGivenUp = n % 100 === 42;
  const attempt = loggedAttempt({ ...(isGivenUp ? failedWith(503) : DELIVERED), at }, 1);
  return logEntry(delivery, isGivenUp ? 'exhausted' : 'delivered', attempt, null);
}

async function caughtUp(url: string, token: string): Promise<void> {
  const headers = { authorization: `Bearer ${token}` };
  for (;;) {
    const { body } = await request(`${url}/api/stats`, { headers });
    const { buckets } = (await body.json()) as { buckets: { delivered: number; failedAttempts: number }[] };
    if (buckets.reduce((sum, one) => sum + one.delivered + one.failedAttempts, 0) === DELIVERIES) return;
    await delay(100);
  }
}

async function linkOf(url: string, token: string): Promise<string> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const { statusCode, body } = await request(`${url}/api/portal-sessions`, { method: 'POST', headers, body: '{}' });
  const opened = (await body.json()) as { url: string };
  if (statusCode !== 201) throw new Error(`no session was opened: ${statusCode}`);
  return opened.url;
}

async function loadMs(browser: Browser, link: string): Promise<number> {
  const context = await browser.newContext();
  const page = await context.newPage();
  const begin = performance.now();
  await page.goto(link, { waitUntil: 'commit' });
  await page.locator('.figures').getByText('99,000').waitFor();
  const ms = performance.now() - begin;
  await context.close();
  return ms;
}
