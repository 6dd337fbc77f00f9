/**
 * From publication to arrival, 200 events a second to three URLs each; then the same with one of the three hanging, as
 * the other two see it. A payment's time begins when it was due to be published, whether or not the publisher was late.
 */
import { allArrived } from '../support/arrivals.js';
import { amount } from '../support/format.js';
import { onEither } from '../support/installation.js';
import { eachRound } from '../support/rounds.js';
import type { Outcome, Row, Tell } from '../support/row.js';
import { openScene, type Scene } from '../support/scene.js';
import { SECONDS, WARM_UP_SECONDS } from '../support/sizes.js';
import { percentile } from '../support/statistics.js';

const PER_SECOND = 200;

/** ms, one by one. */
type Times = readonly number[];

interface Case {
  readonly paths: readonly string[];
  /** URLs of an event that answer. */
  readonly healthy: number;
  /** Of the figure. */
  readonly percent: number;
}

const ALL: Case = { paths: ['/one', '/two', '/three'], healthy: 3, percent: 95 };
const ONE_HANGS: Case = { paths: ['/one', '/two', '/hang'], healthy: 2, percent: 99 };

export const latency: readonly Row[] = [
  ...onEither(
    {
      name: 'latency',
      title: 'Embedded: publish to received, 200 events/s to 3 URLs each, p95',
      figure: { kind: 'below', value: 25, unit: 'ms' },
    },
    ({ kafka }, tell) => run(ALL, kafka, tell),
  ),
  ...onEither(
    {
      name: 'hanging-url',
      title: 'Embedded: the same with one of the three URLs hanging, p99 of the other two',
      figure: { kind: 'below', value: 50, unit: 'ms' },
    },
    ({ kafka }, tell) => run(ONE_HANGS, kafka, tell),
  ),
];

async function run({ paths, healthy, percent }: Case, kafka: boolean, tell: Tell): Promise<Outcome> {
  const scene = await openScene({ kafka, paths }, tell);
  try {
    await scene.receivers.ask('timed');
    // Without it the first window would time the connections being made. A JVM that was just started is slow for longer.
    await window(scene, { seconds: kafka ? 2 * SECONDS : WARM_UP_SECONDS, healthy });
    const said = (times: Times) => `p${percent} ${amount(percentile(times, percent), 'ms')} of ${times.length}`;
    return outcome(await eachRound(tell, () => window(scene, { seconds: SECONDS, healthy }), said), percent);
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
  await allArrived(receivers, healthy * published, before);
  return receivers.ask('latencies');
}

function outcome(windows: readonly Times[], percent: number): Outcome {
  const at = (each: number) => windows.map((times) => percentile(times, each));
  const others = [50, 95, 99, 100].filter((each) => each !== percent);
  const sides = others.map((each) => ({
    name: each === 100 ? 'the slowest' : `p${each}`,
    unit: 'ms' as const,
    values: at(each),
  }));
  return { kind: 'measured', values: at(percent), sides, notes: [] };
}
