/**
 * From a link to the Overview's figures in a Chromium, with an empty cache each time: an account with 100 webhooks, of which
 * 100,000 deliveries within a day are in the view.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import type { Browser } from 'playwright-core';
import { findBrowser, launch } from '../../test/support/clients/chromium.js';
import { type Ask, apiClient } from '../support/api-client.js';
import { openInstallation, startService } from '../support/installation.js';
import { writePastDeliveries } from '../support/past-deliveries.js';
import { populate } from '../support/population.js';
import { eachRound } from '../support/rounds.js';
import type { Outcome, Row, Tell } from '../support/row.js';
import { tokenOf } from '../support/tokens.js';

const ACCOUNT = 1;
const WEBHOOKS = 100;
const DELIVERIES = 100_000;
/** Within the 24 steps of an hour that the Overview shows. */
const SPAN_MS = 22 * 3_600_000;
const LOADS_A_ROUND = 5;
const BUILT = new URL('../../dist/console/', import.meta.url);

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
  await writePastDeliveries(installation.settings, {
    accountId: ACCOUNT,
    count: DELIVERIES,
    spanMs: SPAN_MS,
    webhookOf: (n) => 1 + (n % WEBHOOKS),
    isGivenUp: (n) => n % 100 === 42,
  });
  const service = await startService(installation.settings);
  const browser = await launch(chromium);
  try {
    const ask = apiClient(service.url, await tokenOf(service.url, ACCOUNT));
    await caughtUp(ask);
    await loadMs(browser, await linkOf(ask));
    const turn = async () => {
      const times: number[] = [];
      for (let n = 0; n < LOADS_A_ROUND; n += 1) times.push(await loadMs(browser, await linkOf(ask)));
      return Math.max(...times);
    };
    const values = await eachRound(tell, turn, (ms) => `${Math.round(ms)} ms`);
    return { kind: 'measured', values, sides: [], notes: [`It loads ${loadedKb()} kB, gzipped.`] };
  } finally {
    await browser.close();
    await service.stop('SIGTERM');
    await installation.close();
  }
}

/** All that is built, but the texts of the smaller language, which nobody loads with the other. */
function loadedKb(): string {
  const names = readdirSync(BUILT).filter((name) => !name.startsWith('en-'));
  return (names.reduce((sum, name) => sum + gzipSync(readFileSync(new URL(name, BUILT))).length, 0) / 1_000).toFixed(1);
}

async function caughtUp(ask: Ask): Promise<void> {
  for (;;) {
    const { buckets } = await ask<{ buckets: { delivered: number; failedAttempts: number }[] }>('/api/stats');
    if (buckets.reduce((sum, one) => sum + one.delivered + one.failedAttempts, 0) === DELIVERIES) return;
    await delay(100);
  }
}

async function linkOf(ask: Ask): Promise<string> {
  return (await ask<{ url: string }>('/api/portal-sessions', {})).url;
}

async function loadMs(browser: Browser, link: string): Promise<number> {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.addInitScript("localStorage.setItem('console.account', /code=([0-9]+)/.exec(location.hash)?.[1])");
  const begin = performance.now();
  await page.goto(link, { waitUntil: 'commit' });
  await page.locator('.figure').getByText('99,000').waitFor();
  const ms = performance.now() - begin;
  await context.close();
  return ms;
}
