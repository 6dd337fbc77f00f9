/**
 * From publication to arrival, 200 events a second to three URLs each; then the same with one of the three hanging, as
 * the other two see it. A payment's time begins when it was due to be published, whether or not the publisher was late.
 * The embedded store waits for the disk: before the service starts, and after its end, the disk is timed alone.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { syncTimes } from '../support/bare-disk.js';
import { amount } from '../support/format.js';
import { missingForKafka } from '../support/installation.js';
import type { Figure, Outcome, Row, Side, Tell } from '../support/row.js';
import { openScene, type Scene, type SceneOptions } from '../support/scene.js';
import { ROUNDS, SECONDS, WARM_UP_SECONDS } from '../support/sizes.js';
import { percentile } from '../support/statistics.js';

const PER_SECOND = 200;
const LOOK_EVERY_MS = 20;
const ARRIVED_WITHIN_MS = 30_000;

/** ms, one by one. */
type Times = readonly number[];

interface Case {
  readonly options: SceneOptions;
  /** URLs of an event that answer. */
  readonly healthy: number;
  /** Of the figure. */
  readonly percent: number;
  readonly warmUpSeconds?: number;
}

const ALL: Case = { options: {}, healthy: 3, percent: 95 };
const ONE_HANGS: Case = { options: { paths: ['/one', '/two', '/hang'] }, healthy: 2, percent: 99 };
const BELOW_50_MS: Figure = { kind: 'below', value: 50, unit: 'ms' };
const BELOW_100_MS: Figure = { kind: 'below', value: 100, unit: 'ms' };

export const latency: Row = {
  name: 'latency',
  title: 'Embedded: publish to received, 200 events/s to 3 URLs each, p95',
  figure: BELOW_50_MS,
  run: (tell) => run(ALL, tell),
};

export const latencyKafka: Row = {
  name: 'latency-kafka',
  title: 'The same through Kafka',
  figure: BELOW_50_MS,
  run: (tell) => throughKafka(ALL, tell),
};

export const hangingUrl: Row = {
  name: 'hanging-url',
  title: 'Embedded: the same with one of the three URLs hanging, p99 of the other two',
  figure: BELOW_100_MS,
  run: (tell) => run(ONE_HANGS, tell),
};

export const hangingUrlKafka: Row = {
  name: 'hanging-url-kafka',
  title: 'The same through Kafka',
  figure: BELOW_100_MS,
  run: (tell) => throughKafka(ONE_HANGS, tell),
};

async function throughKafka({ options, ...rest }: Case, tell: Tell): Promise<Outcome> {
  const missing = missingForKafka();
  if (missing.length > 0) return { kind: 'not measured', why: `${missing.join(' and ')} missing` };
  // A JVM that was just started is slow for as long.
  return run({ options: { ...options, kafka: true }, ...rest, warmUpSeconds: 2 * SECONDS }, tell);
}

async function run({ options, healthy, percent, warmUpSeconds = WARM_UP_SECONDS }: Case, tell: Tell): Promise<Outcome> {
  const syncs: Times[] = [];
  const timeDisk = async () => {
    if (!options.kafka) syncs.push(await syncTimes({ perSecond: PER_SECOND, seconds: SECONDS }));
  };
  await timeDisk();
  const windows = await windowsOf({ options, healthy, percent, warmUpSeconds }, tell);
  await timeDisk();
  return outcome(windows, percent, syncs);
}

async function windowsOf({ options, healthy, percent, warmUpSeconds }: Required<Case>, tell: Tell): Promise<Times[]> {
  const scene = await openScene(options, tell);
  try {
    await scene.receivers.ask('timed');
    // Without it the first window would time the connections being made.
    await window(scene, { seconds: warmUpSeconds, healthy });
    const windows: Times[] = [];
    for (let round = 1; round <= ROUNDS; round += 1) {
      const times = await window(scene, { seconds: SECONDS, healthy });
      windows.push(times);
      tell(`round ${round}: p${percent} ${amount(percentile(times, percent), 'ms')} of ${times.length}`);
    }
    return windows;
  } finally {
    await scene.close();
  }
}

/** @returns ms, of each delivery to a URL that answers */
async function window(
  { receivers, publisher }: Scene,
  { seconds, healthy }: { seconds: number; healthy: number },
): Promise<number[]> {
  const before = await receivers.ask('sample');
  const published = await publisher.ask('publishSteadily', { perSecond: PER_SECOND, seconds });
  const deadline = performance.now() + ARRIVED_WITHIN_MS;
  for (;;) {
    const { answered } = await receivers.ask('sample');
    if (answered - before.answered >= healthy * published) return receivers.ask('latencies');
    if (performance.now() > deadline) throw new Error(`of ${healthy * published}, ${answered} came`);
    await delay(LOOK_EVERY_MS);
  }
}

function outcome(windows: readonly Times[], percent: number, syncs: readonly Times[]): Outcome {
  const others = [50, 95, 99, 100].filter((each) => each !== percent);
  return {
    kind: 'measured',
    values: windows.map((times) => percentile(times, percent)),
    sides: [
      ...others.map((each) => side(nameOf(each), windows, each)),
      ...(syncs.length > 0 ? [99, 100].map((each) => side(`a bare sync: ${nameOf(each)}`, syncs, each)) : []),
    ],
    notes: [],
  };
}

function side(name: string, windows: readonly Times[], percent: number): Side {
  return { name, unit: 'ms', values: windows.map((times) => percentile(times, percent)) };
}

function nameOf(percent: number): string {
  return percent === 100 ? 'the slowest' : `p${percent}`;
}
