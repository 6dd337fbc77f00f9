/** What a small account feels of the others: it is asked for its list, and gets payments, all the while. */
import { setTimeout as delay } from 'node:timers/promises';
import { request } from 'undici';
import { cpuMs } from '../../test/support/process-stats.js';
import type { Service } from '../../test/support/service.js';
import type { handlers as publisherHandlers } from '../processes/publisher.js';
import type { Child } from './child.js';
import { machineMs } from './clock.js';
import { amount } from './format.js';
import type { Installation } from './installation.js';
import { SECONDS } from './sizes.js';
import { percentile } from './statistics.js';

/** GETs and payments. */
const PER_SECOND = 20;
const ARRIVED_WITHIN_MS = 30_000;
const LOOK_EVERY_MS = 20;

export interface SmallAccount extends Pick<Installation, 'receivers' | 'origins'> {
  readonly service: Service;
  /** Of payments of the account. */
  readonly publisher: Child<typeof publisherHandlers>;
  readonly token: string;
}

export interface Felt {
  /** p99, ms */
  readonly gets: number;
  readonly deliveries: number;
  /** Of the service, of one core. */
  readonly busy: number;
}

export async function felt(account: SmallAccount): Promise<Felt> {
  const { service, receivers, publisher, origins } = account;
  await receivers.ask('timed');
  const [before, cpuBefore] = [await receivers.ask('sample'), cpuMs(service.pid)];
  const [gets, published] = await Promise.all([
    steadyGets(account),
    publisher.ask('publishSteadily', { perSecond: PER_SECOND, seconds: SECONDS }),
  ]);
  const busy = (cpuMs(service.pid) - cpuBefore) / (1_000 * SECONDS);
  const deadline = performance.now() + ARRIVED_WITHIN_MS;
  while ((await receivers.ask('sample')).answered - before.answered < origins.length * published) {
    if (performance.now() > deadline) throw new Error('deliveries of the small account are missing');
    await delay(LOOK_EVERY_MS);
  }
  const times = await receivers.ask('latencies');
  return { gets: percentile(gets, 99), deliveries: percentile(times, 99), busy };
}

export function feltText({ gets, deliveries, busy }: Felt): string {
  return `GETs ${amount(gets, 'ms')}, deliveries ${amount(deliveries, 'ms')}, ${Math.round(100 * busy)} % of a core`;
}

/** ms, each from when it was due, whatever became of those before it. */
async function steadyGets({ service, token }: SmallAccount): Promise<number[]> {
  const begin = machineMs();
  const one = async (n: number): Promise<number> => {
    const due = begin + (1_000 * n) / PER_SECOND;
    await delay(Math.max(0, due - machineMs()));
    const { statusCode, body } = await request(`${service.url}/api/webhooks`, {
      headers: { authorization: `Bearer ${token}` },
    });
    await body.dump();
    if (statusCode !== 200) throw new Error(`the small account's GET answered ${statusCode}`);
    return machineMs() - due;
  };
  return Promise.all(Array.from({ length: PER_SECOND * SECONDS }, (_, n) => one(n)));
}
