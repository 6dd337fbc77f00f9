/**
 * Hundreds of accounts whose URLs are hostile, each in one of eight ways, with fifty payments each within a minute; beside
 * them an account that is well, and one that registers in the middle of it. Three figures of the same turns.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { request } from 'undici';
import { certificateFor } from '../../test/support/certificates.js';
import { peakMemoryMiB } from '../../test/support/process-stats.js';
import type { Service, Settings } from '../../test/support/service.js';
import type { handlers as hostileHandlers } from '../processes/hostile.js';
import type { handlers as publisherHandlers } from '../processes/publisher.js';
import type { handlers as receiverHandlers } from '../processes/receivers.js';
import { Child } from '../support/child.js';
import { amount } from '../support/format.js';
import { type Installation, openInstallation, startService } from '../support/installation.js';
import { populate } from '../support/population.js';
import type { Figure, Outcome, Row, Tell } from '../support/row.js';
import { HOSTILE_ACCOUNTS, ROUNDS, SECONDS } from '../support/sizes.js';
import { percentile } from '../support/statistics.js';
import { tokenOf } from '../support/tokens.js';

const URLS = 3;
const PAYMENTS_EACH = 52;
const BURST_SECONDS = 60;
const WELL_PER_SECOND = 20;
/** The attempts of the first burst have timed out by then, and some of its deliveries have come back. */
const WATCHED_SECONDS = BURST_SECONDS + SECONDS;
const ARRIVED_WITHIN_MS = 30_000;
const LOOK_EVERY_MS = 20;
const WELL = HOSTILE_ACCOUNTS + 1;
const NEWCOMER = HOSTILE_ACCOUNTS + 2;
const TYPE = 'cash_in';

type Publisher = Child<typeof publisherHandlers>;
type Receivers = Child<typeof receiverHandlers>;

interface Seen {
  readonly wellMs: readonly number[];
  readonly newcomerMs: readonly number[];
  /** From the answer to its registration to its first delivery. */
  readonly firstMs: number;
  readonly peakMiB: number;
}

export const hostileAccounts = row(
  'hostile-accounts',
  `${HOSTILE_ACCOUNTS} hostile accounts beside: a healthy one, p99`,
  {
    figure: { kind: 'below', value: 250, unit: 'ms' },
    value: ({ wellMs }) => percentile(wellMs, 99),
  },
);

export const hostileAccountsNewcomer = row(
  'hostile-accounts-newcomer',
  'The same: first delivery of an account that registers meanwhile',
  {
    figure: { kind: 'below', value: 2_000, unit: 'ms' },
    value: ({ firstMs }) => firstMs,
  },
);

export const hostileAccountsMemory = row('hostile-accounts-memory', 'The same: most resident', {
  figure: { kind: 'below', value: 400, unit: 'MiB' },
  value: ({ peakMiB }) => peakMiB,
});

interface Measured {
  readonly figure: Figure;
  readonly value: (seen: Seen) => number;
}

/** The rows share their turns. */
let turns: Promise<readonly Seen[]> | undefined;

function row(name: string, title: string, { figure, value }: Measured): Row {
  const run = async (tell: Tell): Promise<Outcome> => {
    turns ??= allTurns(tell);
    const seen = await turns;
    const all = (of: (one: Seen) => readonly number[], percent: number) =>
      seen.map((one) => percentile(of(one), percent));
    return {
      kind: 'measured',
      values: seen.map(value),
      sides: [
        { name: 'the slowest of the healthy one', unit: 'ms', values: all(({ wellMs }) => wellMs, 100) },
        { name: 'p99 of the one that registers', unit: 'ms', values: all(({ newcomerMs }) => newcomerMs, 99) },
      ],
      notes: [],
    };
  };
  return { name, title, figure, run };
}

async function allTurns(tell: Tell): Promise<readonly Seen[]> {
  const seen: Seen[] = [];
  for (let round = 1; round <= ROUNDS; round += 1) {
    const one = await turn(tell);
    seen.push(one);
    const [p99, first] = [amount(percentile(one.wellMs, 99), 'ms'), amount(one.firstMs, 'ms')];
    tell(`round ${round}: p99 ${p99}, first of the newcomer ${first}, ${amount(one.peakMiB, 'MiB')}`);
  }
  return seen;
}

async function turn(tell: Tell): Promise<Seen> {
  const hostile: Child<typeof hostileHandlers> = await Child.start('hostile');
  const installation = await openInstallation({ settings: { ALLOWED_PORTS: '443,1024-65535' } });
  const ports = await hostile.ask('listen');
  const { settings, origins } = installation;
  const urls = (accountId: number) =>
    Array.from({ length: URLS }, (_, n) =>
      accountId === WELL
        ? `${origins[n]}/well`
        : `https://localhost:${ports[(accountId + n) % ports.length]}/${accountId}/${n}`,
    );
  await populate(settings, { accounts: NEWCOMER, urls: (id) => (id === NEWCOMER ? [] : urls(id)) }, tell);
  const service = await startService(settings);
  try {
    return await attacked(installation, service);
  } finally {
    await service.stop('SIGTERM');
    await installation.close();
    await hostile.stop();
  }
}

async function attacked({ settings, receivers }: Installation, service: Service): Promise<Seen> {
  const [well, newcomer, hostile] = await Promise.all([
    publisherOf(settings, WELL),
    publisherOf(settings, NEWCOMER),
    publisherOf(settings, 1, HOSTILE_ACCOUNTS),
  ]);
  const others: Receivers = await Child.start('receivers');
  try {
    await Promise.all([receivers.ask('timed'), others.ask('timed')]);
    const published = well.ask('publishSteadily', { perSecond: WELL_PER_SECOND, seconds: WATCHED_SECONDS });
    const burst = hostile.ask('publishSteadily', {
      perSecond: (HOSTILE_ACCOUNTS * PAYMENTS_EACH) / BURST_SECONDS,
      seconds: BURST_SECONDS,
    });
    await delay((BURST_SECONDS * 1_000) / 3);
    const registered = await registers(service, others);
    const seconds = WATCHED_SECONDS - BURST_SECONDS / 2;
    const alsoPublished = newcomer.ask('publishSteadily', { perSecond: WELL_PER_SECOND, seconds });
    const first = await firstMs(others, registered);
    await burst;
    const wellMs = await latencies(receivers, URLS * (await published));
    const newcomerMs = await latencies(others, URLS * (await alsoPublished));
    return { wellMs, newcomerMs, firstMs: first, peakMiB: peakMemoryMiB(service.pid) };
  } finally {
    await Promise.all([well, newcomer, hostile, others].map((child) => child.stop()));
  }
}

async function publisherOf(settings: Settings, first: number, count = 1): Promise<Publisher> {
  const publisher: Publisher = await Child.start('publisher');
  await publisher.ask('open', { settings, accounts: { first, count } });
  return publisher;
}

/** @returns when that was answered, by performance.now */
async function registers({ url }: Service, receivers: Receivers): Promise<number> {
  const ports = await receivers.ask('listen', { ports: Array(URLS).fill(0), ...(await certificateFor(['localhost'])) });
  const authorization = `Bearer ${await tokenOf(url, NEWCOMER)}`;
  for (const port of ports) {
    const body = JSON.stringify({ url: `https://localhost:${port}/newcomer`, eventType: TYPE });
    const headers = { authorization, 'content-type': 'application/json' };
    const answer = await request(`${url}/api/webhooks`, { method: 'POST', headers, body });
    if (answer.statusCode !== 200) throw new Error(`registered: ${answer.statusCode} ${await answer.body.text()}`);
    await answer.body.dump();
  }
  return performance.now();
}

async function firstMs(receivers: Receivers, since: number): Promise<number> {
  await until(async () => (await receivers.ask('sample')).answered > 0);
  return performance.now() - since;
}

async function latencies(receivers: Receivers, count: number): Promise<number[]> {
  const times: number[] = [];
  await until(async () => times.push(...(await receivers.ask('latencies'))) >= count);
  return times;
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + ARRIVED_WITHIN_MS;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`not within ${ARRIVED_WITHIN_MS} ms`);
    await delay(LOOK_EVERY_MS);
  }
}
