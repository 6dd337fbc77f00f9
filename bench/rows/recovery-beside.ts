/**
 * What another account feels while 200,000 given-up deliveries of one are recovered, and listed by eight readers: its own lists
 * of webhooks and of deliveries, by turns, 20 a second. The topic has no records of those payments, so the recovery passes them
 * by as fast as the view names them: where it sends, a rate holds it back.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { type Ask, apiClient } from '../support/api-client.js';
import { amount } from '../support/format.js';
import { openInstallation, startService } from '../support/installation.js';
import { writePastDeliveries } from '../support/past-deliveries.js';
import { populate } from '../support/population.js';
import { eachRound } from '../support/rounds.js';
import type { Outcome, Row, Tell } from '../support/row.js';
import { steadily } from '../support/small-account.js';
import { percentile } from '../support/statistics.js';
import { tokenOf } from '../support/tokens.js';

const [LARGE, SMALL] = [1, 2];
const DELIVERIES = 200_000;
const SPAN_MS = 3_600_000;
const READERS = 8;
const PER_SECOND = 20;
/** Between two looks at whether the recovery still runs. */
const LOOK_EVERY_MS = 100;

export const recoveryBeside: Row = {
  name: 'recovery-beside',
  title: `${DELIVERIES.toLocaleString('en-US')} deliveries of an account recovered and listed: p99 of another's GETs`,
  figure: { kind: 'below', value: 50, unit: 'ms' },
  run,
};

async function run(tell: Tell): Promise<Outcome> {
  const settings = { RATE_LIMIT_READS: '0', RATE_LIMIT_WRITES: '0' };
  const installation = await openInstallation({ settings });
  await populate(installation.settings, { accounts: SMALL, urls: () => ['https://localhost/1'] }, tell);
  await writePastDeliveries(installation.settings, {
    accountId: LARGE,
    count: DELIVERIES,
    spanMs: SPAN_MS,
    webhookOf: () => 1,
    isGivenUp: () => true,
  });
  const service = await startService(installation.settings);
  try {
    const large = apiClient(service.url, await tokenOf(service.url, LARGE));
    const small = apiClient(service.url, await tokenOf(service.url, SMALL));
    const since = new Date(Date.now() - 2 * SPAN_MS).toISOString();
    while ((await large<{ count: number }>(`/api/webhooks/1/recover?since=${since}`)).count < DELIVERIES) {
      await delay(LOOK_EVERY_MS);
    }
    const quiet = percentile(await steady(small), 99);
    tell(`nobody else: ${amount(quiet, 'ms')}`);
    const values = await eachRound(
      tell,
      async () => percentile(await beside(large, since, () => steady(small)), 99),
      (ms) => amount(ms, 'ms'),
    );
    return { kind: 'measured', values, sides: [], notes: [`With nobody else: ${amount(quiet, 'ms')}.`] };
  } finally {
    await service.stop('SIGTERM');
    await installation.close();
  }
}

const steady = (small: Ask) => steadily(PER_SECOND, (n) => small(n % 2 === 0 ? '/api/webhooks' : '/api/deliveries'));

/** One recovery after the other, and readers that go from page to page, while `work` is under way. */
async function beside<T>(large: Ask, since: string, work: () => Promise<T>): Promise<T> {
  let isOver = false;
  const recovering = async () => {
    while (!isOver) {
      const { id } = await large<{ id: string }>('/api/recoveries', { webhookIds: [1], since });
      for (let state = 'running'; state === 'running' && !isOver; await delay(LOOK_EVERY_MS)) {
        state = (await large<{ state: string }>(`/api/recoveries/${id}`)).state;
      }
      if (isOver) await large(`/api/recoveries/${id}`, undefined, 'DELETE');
    }
  };
  const reading = async () => {
    for (let next: string | null = null; !isOver; ) {
      const before: string = next ? `&before=${encodeURIComponent(next)}` : '';
      ({ next } = await large<{ next: string | null }>(`/api/deliveries?limit=50${before}`));
    }
  };
  const others = Promise.all([recovering(), ...Array.from({ length: READERS }, reading)]);
  const found = await work();
  isOver = true;
  await others;
  return found;
}
