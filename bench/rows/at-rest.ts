/** What a service uses that has nothing to do: user and system time of its process, after its start has settled. */
import { setTimeout as delay } from 'node:timers/promises';
import { cpuMs } from '../../test/support/process-stats.js';
import { amount } from '../support/format.js';
import { missingForKafka, openInstallation, startService } from '../support/installation.js';
import type { Outcome, Row, Tell } from '../support/row.js';
import { ROUNDS, SECONDS } from '../support/sizes.js';

/** Code is compiled for some seconds more, and collected. */
const SETTLED_SECONDS = 2 * SECONDS;
const WINDOW_SECONDS = 3 * SECONDS;

export const atRest: Row = {
  name: 'at-rest',
  title: 'Embedded: CPU of a service at rest',
  figure: { kind: 'below', value: 0.6, unit: '% of a core' },
  run: (tell) => run({ kafka: false }, tell),
};

export const atRestKafka: Row = {
  name: 'at-rest-kafka',
  title: 'The same with Kafka',
  figure: { kind: 'below', value: 2, unit: '% of a core' },
  async run(tell) {
    const missing = missingForKafka();
    if (missing.length > 0) return { kind: 'not measured', why: `${missing.join(' and ')} missing` };
    return run({ kafka: true }, tell);
  },
};

async function run(options: { readonly kafka: boolean }, tell: Tell): Promise<Outcome> {
  const { settings, close } = await openInstallation(options);
  const service = await startService(settings);
  const values: number[] = [];
  try {
    await delay(1_000 * SETTLED_SECONDS);
    for (let round = 1; round <= ROUNDS; round += 1) {
      const used = await percentOfCore(service.pid);
      values.push(used);
      tell(`round ${round}: ${amount(used, '% of a core')}`);
    }
  } finally {
    await service.stop('SIGTERM');
    await close();
  }
  return { kind: 'measured', values, sides: [], notes: [] };
}

async function percentOfCore(pid: number): Promise<number> {
  const [begin, before] = [performance.now(), cpuMs(pid)];
  await delay(1_000 * WINDOW_SECONDS);
  return (100 * (cpuMs(pid) - before)) / (performance.now() - begin);
}
