/**
 * Bursts for one healthy URL that has accepted payments before: 4,000 within 1.1 s to one of 100 ms, 9,000 within 2.5 s and 20,000
 * within 8 s to an instant one, each with a service of its own. Alongside, two healthy accounts at 20/s.
 */
import {
  type BurstScene,
  collectArrivals,
  countDeferred,
  lastAt,
  longestGapMs,
  openBurstScene,
  withHealthyAlongside,
} from '../support/burst-scene.js';
import { machineMs } from '../support/clock.js';
import { amount } from '../support/format.js';
import { countRecords } from '../support/own-records.js';
import { eachRound, sharedRows } from '../support/rounds.js';
import type { Tell } from '../support/row.js';
import { threadUsage } from '../support/thread-usage.js';

interface Burst {
  readonly count: number;
  readonly seconds: number;
  readonly answerMs: number;
}

const BURSTS: readonly Burst[] = [
  { count: 4_000, seconds: 1.1, answerMs: 100 },
  { count: 9_000, seconds: 2.5, answerMs: 0 },
  { count: 20_000, seconds: 8, answerMs: 0 },
];
/** ENDPOINT_CONCURRENCY */
const MAX_CONCURRENT = 16;
const WARM_UP = { perSecond: 50, seconds: 4 };
const WITHIN_MS = 5 * 60_000;

interface Result {
  /** Last delivery, relative to the ideal one. */
  readonly ratio: number;
  readonly seconds: number;
  readonly gapSeconds: number;
  /** Records in the topics of the service. */
  readonly recordsEach: number;
  readonly deferredEach: number;
  /** Of the healthy account with the slower deliveries, ms. */
  readonly p99: number;
}

const worst = (results: readonly Result[], figure: keyof Result) => Math.max(...results.map((one) => one[figure]));

export const burstOne = sharedRows<readonly Result[]>(
  (tell) =>
    eachRound(
      tell,
      () => turn(tell),
      () => 'done',
    ),
  [
    ...BURSTS.map(
      ({ count, answerMs }, n) =>
        [
          `burst-one-${count}`,
          `${count.toLocaleString('en-US')} deliveries to one URL ${answerMs > 0 ? `of ${answerMs} ms` : 'that responds instantly'}: last delivery relative to the ideal`,
          { kind: 'at most', value: 1.2, unit: 'ratio' },
          (results: readonly Result[]) => results[n]?.ratio ?? Number.NaN,
        ] as const,
    ),
    [
      'burst-one-records',
      'The three: records written per delivery, the most',
      { kind: 'at most', value: 3, unit: 'ratio' },
      (results) => worst(results, 'recordsEach'),
    ],
    [
      'burst-one-gap',
      'The three: longest time without a delivery',
      { kind: 'below', value: 6, unit: 's' },
      (results) => worst(results, 'gapSeconds'),
    ],
    [
      'burst-one-alongside',
      'The three: healthy accounts at 20/s alongside, receivers of 10 and 150 ms, p99 of the slower',
      { kind: 'below', value: 500, unit: 'ms' },
      (results) => worst(results, 'p99'),
    ],
  ],
  (rounds) => ({
    sides: BURSTS.map(({ count }, n) => ({
      name: `last of ${count.toLocaleString('en-US')}`,
      unit: 's' as const,
      values: rounds.map((results) => results[n]?.seconds ?? Number.NaN),
    })),
    notes: [
      `Deferrals per delivery: ${rounds.map((all) => all.map((one) => one.deferredEach.toFixed(2)).join(', ')).join('; ')}.`,
    ],
  }),
);

async function turn(tell: Tell): Promise<readonly Result[]> {
  const results: Result[] = [];
  for (const burst of BURSTS) {
    const scene = await openBurstScene({ accounts: 1, urls: 1, origins: 1, answersAfterMs: burst.answerMs }, tell);
    const result = await measure(scene, burst).finally(scene.close);
    results.push(result);
    const { ratio, seconds, gapSeconds, recordsEach, deferredEach, p99 } = result;
    tell(
      `${burst.count}: last after ${amount(seconds, 's')}, ${amount(ratio, 'ratio')} of the ideal; gap ${amount(gapSeconds, 's')}; ${recordsEach.toFixed(2)} records and ${deferredEach.toFixed(2)} deferrals each; p99 alongside ${amount(p99, 'ms')}`,
    );
  }
  return results;
}

async function measure(scene: BurstScene, { count, seconds, answerMs }: Burst): Promise<Result> {
  const { receivers, publisher, service, settings } = scene;
  await collectArrivals(receivers, await publisher.ask('publishSteadily', WARM_UP), WITHIN_MS);
  const { result, p99 } = await withHealthyAlongside(scene.alongside, async () => {
    const [recordsBefore, deferredBefore] = [await countRecords(settings), await countDeferred(service)];
    const [startedAt, before] = [machineMs(), threadUsage(service)];
    const published = await publisher.ask('publishSteadily', { perSecond: count / seconds, seconds });
    const arrivals = await collectArrivals(receivers, published, WITHIN_MS);
    const busyMs = threadUsage(service).busyMs - before.busyMs;
    const ms = lastAt(arrivals, published) - startedAt;
    const idealMs = Math.max((count * answerMs) / MAX_CONCURRENT, 1_000 * seconds, busyMs);
    return {
      ratio: ms / idealMs,
      seconds: ms / 1_000,
      gapSeconds: longestGapMs(arrivals, startedAt) / 1_000,
      recordsEach: ((await countRecords(settings)) - recordsBefore) / published,
      deferredEach: ((await countDeferred(service)) - deferredBefore) / published,
    };
  });
  return { ...result, p99: Math.max(...p99) };
}
