/**
 * A burst over many healthy accounts: 3,000 payments per second for 8 s over 2,000 accounts with three URLs of 100 ms each, which
 * have accepted one payment before. Alongside, two healthy accounts at 20/s.
 */

import {
  collectArrivals,
  countDeferred,
  lastAt,
  openBurstScene,
  withHealthyAlongside,
} from '../support/burst-scene.js';
import { machineMs } from '../support/clock.js';
import { amount } from '../support/format.js';
import { eachRound, sharedRows } from '../support/rounds.js';
import type { Tell } from '../support/row.js';
import { threadUsage } from '../support/thread-usage.js';

const [ACCOUNTS, URLS, ANSWER_MS] = [2_000, 3, 100];
const [PER_SECOND, SECONDS] = [3_000, 8];
const WARM_UP_PER_SECOND = 100;
const WITHIN_MS = 5 * 60_000;

interface Result {
  /** Last delivery, relative to the publication or to the time that the thread was busy, whichever is longer. */
  readonly ratio: number;
  readonly seconds: number;
  readonly cpuUsEach: number;
  readonly deferred: number;
  readonly p99: readonly number[];
}

const TITLE = `${(PER_SECOND * SECONDS * URLS).toLocaleString('en-US')} deliveries in ${SECONDS} s over ${ACCOUNTS.toLocaleString('en-US')} accounts`;

export const burstMany = sharedRows<Result>(
  (tell) =>
    eachRound(
      tell,
      () => turn(tell),
      ({ ratio, seconds, cpuUsEach, deferred, p99 }) =>
        `last after ${amount(seconds, 's')}, ${amount(ratio, 'ratio')} of what it takes, ${amount(cpuUsEach, 'us')} of CPU each, ${deferred} deferred, p99 alongside ${p99.map((ms) => amount(ms, 'ms')).join(', ')}`,
    ),
  [
    [
      'burst-many-deferred',
      `${TITLE}: deferred`,
      { kind: 'exactly', value: 0, unit: 'deferred' },
      (one) => one.deferred,
    ],
    [
      'burst-many',
      'The same: last delivery relative to the time that the CPU needs',
      { kind: 'at most', value: 1.3, unit: 'ratio' },
      (one) => one.ratio,
    ],
    [
      'burst-many-alongside',
      'The same: healthy accounts at 20/s alongside, receivers of 10 and 150 ms, p99 of the slower',
      { kind: 'below', value: 500, unit: 'ms' },
      ({ p99 }) => Math.max(...p99),
    ],
  ],
  (results) => ({
    sides: [
      { name: 'last delivery', unit: 's', values: results.map(({ seconds }) => seconds) },
      { name: 'CPU of the thread for each delivery', unit: 'us', values: results.map(({ cpuUsEach }) => cpuUsEach) },
      { name: 'p99 alongside with 10 ms', unit: 'ms', values: results.map(({ p99 }) => p99[0] ?? Number.NaN) },
    ],
  }),
);

/** A new service for each round: the previous burst would leave its connections. */
async function turn(tell: Tell): Promise<Result> {
  const options = { accounts: ACCOUNTS, urls: URLS, origins: ACCOUNTS * URLS, answersAfterMs: ANSWER_MS };
  const scene = await openBurstScene(options, tell);
  const { receivers, publisher, service } = scene;
  try {
    const warmUp = { perSecond: WARM_UP_PER_SECOND, seconds: ACCOUNTS / WARM_UP_PER_SECOND };
    await collectArrivals(receivers, URLS * (await publisher.ask('publishSteadily', warmUp)), WITHIN_MS);
    const deferredBefore = await countDeferred(service);
    const { result, p99 } = await withHealthyAlongside(scene.alongside, async () => {
      const [startedAt, before] = [machineMs(), threadUsage(service)];
      const published = await publisher.ask('publishSteadily', { perSecond: PER_SECOND, seconds: SECONDS });
      const arrivals = await collectArrivals(receivers, URLS * published, WITHIN_MS);
      const after = threadUsage(service);
      const ms = lastAt(arrivals, URLS * published) - startedAt;
      const ratio = ms / Math.max(1_000 * SECONDS, after.busyMs - before.busyMs);
      return { ratio, seconds: ms / 1_000, cpuUsEach: (1_000 * (after.cpuMs - before.cpuMs)) / (URLS * published) };
    });
    return { ...result, p99, deferred: (await countDeferred(service)) - deferredBefore };
  } finally {
    await scene.close();
  }
}
