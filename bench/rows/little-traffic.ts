/**
 * CPU of a service with little traffic, 100 events a second to three URLs each: work that runs per tick or per fetch, and not
 * per delivery, dominates there. Beside it, from publication to arrival.
 */
import { cpuMs } from '../../test/support/clients/process-stats.js';
import { allArrived } from '../support/arrivals.js';
import { amount } from '../support/format.js';
import { onEither } from '../support/installation.js';
import { eachRound } from '../support/rounds.js';
import type { Outcome, Tell } from '../support/row.js';
import { openScene, type Scene } from '../support/scene.js';
import { SECONDS } from '../support/sizes.js';
import { percentile } from '../support/statistics.js';

const PER_SECOND = 100;
const PATHS = ['/one', '/two', '/three'];
/** V8 compiles for about 40 s at this rate: less leaves a third more CPU. */
const WARM_UP_SECONDS = 4 * SECONDS;
const WINDOW_SECONDS = SECONDS;

interface Window {
  readonly percentOfCore: number;
  readonly p50: number;
  readonly p99: number;
}

export const littleTraffic = onEither(
  {
    name: 'little-traffic',
    title: 'Embedded: CPU at 100 events/s to 3 URLs each',
    figure: { kind: 'below', value: 13.5, unit: '% of a core' },
  },
  run,
  { title: 'The same through Kafka', figure: { kind: 'below', value: 22, unit: '% of a core' } },
);

async function run({ kafka }: { readonly kafka: boolean }, tell: Tell): Promise<Outcome> {
  const scene = await openScene({ kafka, paths: PATHS }, tell);
  try {
    await scene.receivers.ask('timed');
    await window(scene, WARM_UP_SECONDS);
    const said = ({ percentOfCore, p50, p99 }: Window) =>
      `${amount(percentOfCore, '% of a core')}, p50 ${amount(p50, 'ms')}, p99 ${amount(p99, 'ms')}`;
    const windows = await eachRound(tell, () => window(scene, WINDOW_SECONDS), said);
    const values = (of: keyof Window) => windows.map((one) => one[of]);
    const sides = (['p50', 'p99'] as const).map((name) => ({ name, unit: 'ms' as const, values: values(name) }));
    return { kind: 'measured', values: values('percentOfCore'), sides, notes: [] };
  } finally {
    await scene.close();
  }
}

async function window({ service, receivers, publisher }: Scene, seconds: number): Promise<Window> {
  const [before, begin, used] = [await receivers.ask('sample'), performance.now(), cpuMs(service.pid)];
  const published = await publisher.ask('publishSteadily', { perSecond: PER_SECOND, seconds });
  const percentOfCore = (100 * (cpuMs(service.pid) - used)) / (performance.now() - begin);
  await allArrived(receivers, PATHS.length * published, before);
  const times = await receivers.ask('latencies');
  return { percentOfCore, p50: percentile(times, 50), p99: percentile(times, 99) };
}
