/**
 * Hundreds of accounts whose URLs are hostile, each in one of eight ways, with fifty payments each within a minute, from a start
 * with nothing known; beside them healthy accounts with receivers of 10 and of 150 ms, and one that registers in the middle of
 * it. Figures of the same turns.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { request } from 'undici';
import { peakMemoryMiB } from '../../test/support/process-stats.js';
import type { Service, Settings } from '../../test/support/service.js';
import type { handlers as hostileHandlers } from '../processes/hostile.js';
import type { handlers as publisherHandlers } from '../processes/publisher.js';
import { Child } from '../support/child.js';
import { amount } from '../support/format.js';
import { HealthyAccount } from '../support/healthy-account.js';
import { openInstallation, startService } from '../support/installation.js';
import { watchInFlight } from '../support/most-in-flight.js';
import { populate } from '../support/population.js';
import type { Figure, Outcome, Row, Tell } from '../support/row.js';
import { HOSTILE_ACCOUNTS, ROUNDS, SECONDS } from '../support/sizes.js';
import { percentile } from '../support/statistics.js';
import { tokenOf } from '../support/tokens.js';

const URLS = 3;
const PAYMENTS_EACH = 52;
const BURST_SECONDS = 60;
const PER_SECOND = 20;
/** The attempts of the first burst have timed out by then, and some of its deliveries have come back. */
const WATCHED_SECONDS = BURST_SECONDS + SECONDS;
const TYPE = 'cash_in';

interface Seen {
  readonly wellMs: readonly number[];
  readonly slowerMs: readonly number[];
  readonly newcomerMs: readonly number[];
  /** From the answer to its registration to its first delivery. */
  readonly firstMs: number;
  readonly peakMiB: number;
  readonly inFlight: number;
}

interface Healthy {
  /** With receivers of 10 and of 150 ms. */
  readonly well: HealthyAccount;
  readonly slower: HealthyAccount;
  readonly newcomer: HealthyAccount;
}

export const hostileAccounts = row(
  'hostile-accounts',
  `${HOSTILE_ACCOUNTS} hostile accounts beside: a healthy one with receivers of 10 ms, p99`,
  {
    figure: { kind: 'below', value: 250, unit: 'ms' },
    value: ({ wellMs }) => percentile(wellMs, 99),
  },
);

export const hostileAccounts150 = row('hostile-accounts-150', 'The same: one with receivers of 150 ms, p99', {
  figure: { kind: 'below', value: 500, unit: 'ms' },
  value: ({ slowerMs }) => percentile(slowerMs, 99),
});

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
        { name: 'the slowest of 10 ms', unit: 'ms', values: all(({ wellMs }) => wellMs, 100) },
        { name: 'p50 of 150 ms', unit: 'ms', values: all(({ slowerMs }) => slowerMs, 50) },
        { name: 'p99 of the one that registers', unit: 'ms', values: all(({ newcomerMs }) => newcomerMs, 99) },
      ],
      notes: [`Most attempts in flight: ${seen.map(({ inFlight }) => inFlight).join(', ')}.`],
    };
  };
  return { name, title, figure, run };
}

async function allTurns(tell: Tell): Promise<readonly Seen[]> {
  const seen: Seen[] = [];
  for (let round = 1; round <= ROUNDS; round += 1) {
    const one = await turn(tell);
    seen.push(one);
    const p99 = [one.wellMs, one.slowerMs, one.newcomerMs].map((times) => amount(percentile(times, 99), 'ms'));
    const first = amount(one.firstMs, 'ms');
    const rest = `${amount(one.peakMiB, 'MiB')}, ${one.inFlight} in flight`;
    tell(`round ${round}: p99 of 10 ms, 150 ms, newcomer ${p99.join(', ')}, first of the newcomer ${first}, ${rest}`);
  }
  return seen;
}

async function turn(tell: Tell): Promise<Seen> {
  const hostile: Child<typeof hostileHandlers> = await Child.start('hostile');
  const healthy = await openHealthy();
  const { newcomer } = healthy;
  const installation = await openInstallation({ receivers: 0, settings: { ALLOWED_PORTS: '443,1024-65535' } });
  const ports = await hostile.ask('listen');
  const { settings } = installation;
  const known = new Map([healthy.well, healthy.slower].map(({ id, urls }) => [id, urls]));
  const urls = (id: number) =>
    known.get(id) ??
    Array.from({ length: id === newcomer.id ? 0 : URLS }, (_, n) => {
      return `https://localhost:${ports[(id + n) % ports.length]}/${id}/${n}`;
    });
  await populate(settings, { accounts: newcomer.id, urls }, tell);
  const service = await startService(settings);
  try {
    return await attacked(settings, service, healthy);
  } finally {
    await service.stop('SIGTERM');
    await Promise.all([installation.close(), hostile.stop(), ...Object.values(healthy).map((one) => one.stop())]);
  }
}

async function openHealthy(): Promise<Healthy> {
  const [well, slower, newcomer] = await Promise.all([
    HealthyAccount.open(HOSTILE_ACCOUNTS + 1, 10),
    HealthyAccount.open(HOSTILE_ACCOUNTS + 2, 150),
    HealthyAccount.open(HOSTILE_ACCOUNTS + 3, 10),
  ]);
  return { well, slower, newcomer };
}

async function attacked(settings: Settings, service: Service, { well, slower, newcomer }: Healthy): Promise<Seen> {
  const hostile: Child<typeof publisherHandlers> = await Child.start('publisher');
  const inFlight = watchInFlight(service);
  try {
    await Promise.all([
      ...[well, slower, newcomer].map((one) => one.ready(settings)),
      hostile.ask('open', { settings, accounts: { first: 1, count: HOSTILE_ACCOUNTS } }),
    ]);
    const steadily = { perSecond: PER_SECOND, seconds: WATCHED_SECONDS };
    const times = Promise.all([well.publishes(steadily), slower.publishes(steadily)]);
    const perSecond = (HOSTILE_ACCOUNTS * PAYMENTS_EACH) / BURST_SECONDS;
    const burst = hostile.ask('publishSteadily', { perSecond, seconds: BURST_SECONDS });
    await delay((BURST_SECONDS * 1_000) / 3);
    const registered = await registers(service, newcomer);
    const newcomerTimes = newcomer.publishes({ ...steadily, seconds: WATCHED_SECONDS - BURST_SECONDS / 2 });
    const firstMs = await newcomer.firstMs(registered);
    await burst;
    const [wellMs, slowerMs] = await times;
    const newcomerMs = await newcomerTimes;
    const peakMiB = peakMemoryMiB(service.pid);
    return { wellMs, slowerMs, newcomerMs, firstMs, peakMiB, inFlight: await inFlight() };
  } finally {
    await inFlight();
    await hostile.stop();
  }
}

/** @returns when that was answered, by performance.now */
async function registers({ url }: Service, account: HealthyAccount): Promise<number> {
  const authorization = `Bearer ${await tokenOf(url, account.id)}`;
  for (const each of account.urls) {
    const body = JSON.stringify({ url: each, eventType: TYPE });
    const headers = { authorization, 'content-type': 'application/json' };
    const answer = await request(`${url}/api/webhooks`, { method: 'POST', headers, body });
    if (answer.statusCode !== 200) throw new Error(`registered: ${answer.statusCode} ${await answer.body.text()}`);
    await answer.body.dump();
  }
  return performance.now();
}
