/**
 * Hundreds of accounts whose URLs are hostile, each in one of eight ways, with fifty payments each within a minute, from a start
 * with nothing known; beside them healthy accounts with receivers of 10 and of 150 ms, and one that registers in the middle of
 * it. Figures of the same turns.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { peakMemoryMiB } from '../../test/support/clients/process-stats.js';
import type { Service, Settings } from '../../test/support/clients/service.js';
import type { handlers as hostileHandlers } from '../processes/hostile.js';
import type { handlers as publisherHandlers } from '../processes/publisher.js';
import { apiClient } from '../support/api-client.js';
import { Child } from '../support/child.js';
import { amount } from '../support/format.js';
import { HealthyAccount } from '../support/healthy-account.js';
import { mostInFlight, p99, rowsOfTwo, saidOfTwo, type TwoSeen, watchInFlight } from '../support/healthy-two.js';
import { openInstallation, startService } from '../support/installation.js';
import { populate } from '../support/population.js';
import { eachRound, sharedRows } from '../support/rounds.js';
import type { Tell } from '../support/row.js';
import { HOSTILE_ACCOUNTS, SECONDS } from '../support/sizes.js';
import { tokenOf } from '../support/tokens.js';

const URLS = 3;
const PAYMENTS_EACH = 52;
const BURST_SECONDS = 60;
const PER_SECOND = 20;
/** The attempts of the first burst have timed out by then, and some of its deliveries have come back. */
const WATCHED_SECONDS = BURST_SECONDS + SECONDS;

interface Seen extends TwoSeen {
  readonly newcomerMs: readonly number[];
  /** From the answer to its registration to its first delivery. */
  readonly firstMs: number;
  readonly peakMiB: number;
}

interface Healthy {
  /** With receivers of 10 and of 150 ms. */
  readonly well: HealthyAccount;
  readonly slower: HealthyAccount;
  readonly newcomer: HealthyAccount;
}

export const hostileAccounts = sharedRows<Seen>(
  (tell) =>
    eachRound(
      tell,
      () => turn(tell),
      ({ newcomerMs, firstMs, peakMiB, ...seen }) => {
        const newcomer = `a newcomer ${amount(p99(newcomerMs), 'ms')}, its first ${amount(firstMs, 'ms')}`;
        return `${saidOfTwo(seen)}; ${newcomer}; ${amount(peakMiB, 'MiB')}`;
      },
    ),
  [
    ...rowsOfTwo(
      'hostile-accounts',
      `${HOSTILE_ACCOUNTS} hostile accounts beside: a healthy one with receivers of 10 ms, p99`,
    ),
    [
      'hostile-accounts-newcomer',
      'The same: first delivery of an account that registers meanwhile',
      { kind: 'below', value: 2_000, unit: 'ms' },
      ({ firstMs }) => firstMs,
    ],
    [
      'hostile-accounts-memory',
      'The same: most resident',
      { kind: 'below', value: 400, unit: 'MiB' },
      ({ peakMiB }) => peakMiB,
    ],
  ],
  (seen) => ({
    ...mostInFlight(seen),
    sides: [
      { name: 'p99 of the one that registers', unit: 'ms', values: seen.map(({ newcomerMs }) => p99(newcomerMs)) },
    ],
  }),
);

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
  const ask = apiClient(url, await tokenOf(url, account.id));
  for (const each of account.urls) await ask('/api/webhooks', { url: each, eventType: 'cash_in' });
  return performance.now();
}
