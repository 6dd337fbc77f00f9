/** What a small account feels of the others: it is asked for its list, and gets payments, all the while. */
import { setTimeout as delay } from 'node:timers/promises';
import { cpuMs, peakMemoryMiB } from '../../test/support/clients/process-stats.js';
import type { Service } from '../../test/support/clients/service.js';
import type { handlers as publisherHandlers } from '../processes/publisher.js';
import { apiClient } from './api-client.js';
import { allArrived } from './arrivals.js';
import type { Child } from './child.js';
import { machineMs } from './clock.js';
import { amount } from './format.js';
import type { Installation } from './installation.js';
import { eachRound } from './rounds.js';
import type { Outcome, Tell } from './row.js';
import { SECONDS, WARM_UP_SECONDS } from './sizes.js';
import { percentile } from './statistics.js';

/** GETs and payments. */
const PER_SECOND = 20;

export interface SmallAccount extends Pick<Installation, 'receivers' | 'origins'> {
  readonly service: Service;
  /** Of payments of the account. */
  readonly publisher: Child<typeof publisherHandlers>;
  readonly token: string;
}

interface Felt {
  /** p99, ms */
  readonly gets: number;
  readonly deliveries: number;
  /** Of the service, of one core. */
  readonly busy: number;
}

/** Begins to disturb. @returns its end, which says what else was seen */
export type Disturb = () => Promise<() => Promise<string>>;

/** The worse p99 of GETs and deliveries, beside each way of disturbing by turns. */
export async function feltBeside(
  account: SmallAccount,
  ways: Readonly<Record<string, Disturb>>,
  { tell, limitMiB }: { tell: Tell; limitMiB: number },
): Promise<Outcome> {
  const quiet = feltText(await felt(account));
  tell(`nobody else: ${quiet}`);
  const turn = async () => {
    const seen: Record<string, Felt> = {};
    for (const [way, disturb] of Object.entries(ways)) {
      const end = await disturb();
      await delay(WARM_UP_SECONDS * 1_000);
      const one = await felt(account).finally(end);
      seen[way] = one;
      tell(`${way}: ${[feltText(one), await end()].filter(Boolean).join(', ')}`);
    }
    return seen;
  };
  const worst = (seen: Readonly<Record<string, Felt>>) =>
    Math.max(...Object.values(seen).flatMap(({ gets, deliveries }) => [gets, deliveries]));
  const rounds = await eachRound(tell, turn, (seen) => amount(worst(seen), 'ms'));
  const of = (way: string, figure: 'gets' | 'deliveries') => rounds.map((seen) => seen[way]?.[figure] ?? Number.NaN);
  const memoryMiB = peakMemoryMiB(account.service.pid);
  return {
    kind: 'measured',
    values: rounds.map(worst),
    sides: Object.keys(ways).flatMap((way) => [
      { name: `${way}: GETs`, unit: 'ms', values: of(way, 'gets') },
      { name: `${way}: deliveries`, unit: 'ms', values: of(way, 'deliveries') },
    ]),
    notes: [
      `Most resident: ${amount(memoryMiB, 'MiB')}, ${memoryMiB < limitMiB ? 'below' : 'NOT below'} ${limitMiB}.`,
      `With nobody else: ${quiet}.`,
    ],
  };
}

async function felt(account: SmallAccount): Promise<Felt> {
  const { service, receivers, publisher, origins } = account;
  const get = apiClient(service.url, account.token);
  await receivers.ask('timed');
  const [before, cpuBefore] = [await receivers.ask('sample'), cpuMs(service.pid)];
  const [gets, published] = await Promise.all([
    steadily(PER_SECOND, () => get('/api/webhooks')),
    publisher.ask('publishSteadily', { perSecond: PER_SECOND, seconds: SECONDS }),
  ]);
  const busy = (cpuMs(service.pid) - cpuBefore) / (1_000 * SECONDS);
  await allArrived(receivers, origins.length * published, before);
  const times = await receivers.ask('latencies');
  return { gets: percentile(gets, 99), deliveries: percentile(times, 99), busy };
}

function feltText({ gets, deliveries, busy }: Felt): string {
  return `GETs ${amount(gets, 'ms')}, deliveries ${amount(deliveries, 'ms')}, ${Math.round(100 * busy)} % of a core`;
}

/** @returns ms, of each from when it was due, whatever became of those before it */
export function steadily(perSecond: number, work: (n: number) => Promise<unknown>): Promise<number[]> {
  const begin = machineMs();
  const one = async (n: number): Promise<number> => {
    const due = begin + (1_000 * n) / perSecond;
    await delay(Math.max(0, due - machineMs()));
    await work(n);
    return machineMs() - due;
  };
  return Promise.all(Array.from({ length: perSecond * SECONDS }, (_, n) => one(n)));
}
