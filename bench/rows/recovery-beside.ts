/**
 * What another account feels while 200,000 given-up deliveries of one are recovered, and listed by eight readers: its own lists
 * of webhooks and of deliveries, by turns, 20 a second. The topic has no records of those payments, so the recovery passes them
 * by as fast as the view names them: where it sends, a rate holds it back.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { request } from 'undici';
import { SqliteBroker } from '../../src/adapters/sqlite/broker.js';
import { StoreFile } from '../../src/adapters/sqlite/store-file.js';
import { newDelivery } from '../../src/delivery/delivery.js';
import { logEntry, loggedAttempt, toLogRecord } from '../../src/delivery/log/log-record.js';
import { failedWith, named, paymentRecord, received } from '../../test/support/delivery-samples.js';
import type { Settings } from '../../test/support/service.js';
import { machineMs } from '../support/clock.js';
import { amount } from '../support/format.js';
import { openInstallation, startService } from '../support/installation.js';
import { populate } from '../support/population.js';
import type { Outcome, Row, Tell } from '../support/row.js';
import { ROUNDS, SECONDS } from '../support/sizes.js';
import { percentile } from '../support/statistics.js';
import { tokenOf } from '../support/tokens.js';

const [LARGE, SMALL] = [1, 2];
const DELIVERIES = 200_000;
const A_RECORD = 100;
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

type Ask = (path: string, json?: object, method?: 'GET' | 'POST' | 'DELETE') => Promise<unknown>;

async function run(tell: Tell): Promise<Outcome> {
  const settings = { RATE_LIMIT_READS: '0', RATE_LIMIT_WRITES: '0' };
  const installation = await openInstallation({ settings });
  await populate(installation.settings, { accounts: SMALL, urls: () => ['https://localhost/1'] }, tell);
  await fill(installation.settings);
  const service = await startService(installation.settings);
  try {
    const large = asking(service.url, await tokenOf(service.url, LARGE));
    const small = asking(service.url, await tokenOf(service.url, SMALL));
    const since = new Date(Date.now() - 2 * SPAN_MS).toISOString();
    while (((await large(`/api/webhooks/1/recover?since=${since}`)) as { count: number }).count < DELIVERIES) {
      await delay(LOOK_EVERY_MS);
    }
    const quiet = percentile(await steady(small), 99);
    tell(`nobody else: ${amount(quiet, 'ms')}`);
    const values: number[] = [];
    for (let round = 1; round <= ROUNDS; round += 1) {
      values.push(percentile(await beside(large, since, () => steady(small)), 99));
      tell(`round ${round}: ${amount(values.at(-1) ?? 0, 'ms')}`);
    }
    return { kind: 'measured', values, sides: [], notes: [`With nobody else: ${amount(quiet, 'ms')}.`] };
  } finally {
    await service.stop('SIGTERM');
    await installation.close();
  }
}

async function fill({ DATA_DIR = '' }: Settings): Promise<void> {
  const file = new StoreFile(DATA_DIR);
  const broker = new SqliteBroker(file);
  const begin = Date.now() - SPAN_MS;
  for (let first = 0; first < DELIVERIES; first += A_RECORD) {
    const deliveries = Array.from({ length: A_RECORD }, (_, n) => {
      const at = begin + Math.floor(((first + n) * SPAN_MS) / DELIVERIES);
      const record = received(paymentRecord(), { offset: first + n, timestamp: at });
      const event = { id: `pay-${first + n}`, type: 'cash_in', accountId: LARGE } as const;
      const attempt = loggedAttempt({ ...failedWith(503), at }, 1);
      return logEntry(newDelivery(event, named(1), record), 'exhausted', attempt, null);
    });
    await broker.publish('webhooks.deliveries', [toLogRecord({ deliveries })]);
  }
  await broker.close();
  file.close();
}

function asking(url: string, token: string): Ask {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  return async (path, json, method = json ? 'POST' : 'GET') => {
    const sent = json && { body: JSON.stringify(json) };
    const { statusCode, body } = await request(url + path, { method, headers, ...sent });
    const text = await body.text();
    if (statusCode >= 300) throw new Error(`${path} answered ${statusCode}: ${text}`);
    return JSON.parse(text);
  };
}

/** ms, each from when it was due, whatever became of those before it. */
function steady(small: Ask): Promise<number[]> {
  const begin = machineMs();
  const one = async (n: number): Promise<number> => {
    const due = begin + (1_000 * n) / PER_SECOND;
    await delay(Math.max(0, due - machineMs()));
    await small(n % 2 === 0 ? '/api/webhooks' : '/api/deliveries');
    return machineMs() - due;
  };
  return Promise.all(Array.from({ length: PER_SECOND * SECONDS }, (_, n) => one(n)));
}

/** One recovery after the other, and readers that go from page to page, while `work` is under way. */
async function beside<T>(large: Ask, since: string, work: () => Promise<T>): Promise<T> {
  let isOver = false;
  const recovering = async () => {
    while (!isOver) {
      const { id } = (await large('/api/recoveries', { webhookIds: [1], since })) as { id: string };
      for (let state = 'running'; state === 'running' && !isOver; await delay(LOOK_EVERY_MS)) {
        state = ((await large(`/api/recoveries/${id}`)) as { state: string }).state;
      }
      if (isOver) await large(`/api/recoveries/${id}`, undefined, 'DELETE');
    }
  };
  const reading = async () => {
    for (let next: string | null = null; !isOver; ) {
      const before: string = next ? `&before=${encodeURIComponent(next)}` : '';
      next = ((await large(`/api/deliveries?limit=50${before}`)) as { next: string | null }).next;
    }
  };
  const others = Promise.all([recovering(), ...Array.from({ length: READERS }, reading)]);
  const found = await work();
  isOver = true;
  await others;
  return found;
}
