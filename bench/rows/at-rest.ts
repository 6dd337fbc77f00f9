/** What a service uses that has nothing to do: user and system time of its process, after its start has settled. */
import { setTimeout as delay } from 'node:timers/promises';
import { cpuMs } from '../../test/support/clients/process-stats.js';
import { amount } from '../support/format.js';
import { onEither, openInstallation, startService } from '../support/installation.js';
import { eachRound } from '../support/rounds.js';
import type { Outcome, Tell } from '../support/row.js';
import { SECONDS } from '../support/sizes.js';

/** Code is compiled for some seconds more, and collected. */
const SETTLED_SECONDS = 2 * SECONDS;
const WINDOW_SECONDS = 3 * SECONDS;

export const atRest = onEither(
  {
    name: 'at-rest',
    title: 'Embedded: CPU of a service at rest',
    figure: { kind: 'below', value: 0.6, unit: '% of a core' },
  },
  run,
  { title: 'The same with Kafka', figure: { kind: 'below', value: 2, unit: '% of a core' } },
);

async function run(options: { readonly kafka: boolean }, tell: Tell): Promise<Outcome> {
  const { settings, close } = await openInstallation(options);
  const service = await startService(settings);
  try {
    await delay(1_000 * SETTLED_SECONDS);
    const values = await eachRound(
      tell,
      () => percentOfCore(service.pid),
      (used) => amount(used, '% of a core'),
    );
    return { kind: 'measured', values, sides: [], notes: [] };
  } finally {
    await service.stop('SIGTERM');
    await close();
  }
}

async function percentOfCore(pid: number): Promise<number> {
  const [begin, before] = [performance.now(), cpuMs(pid)];
  await delay(1_000 * WINDOW_SECONDS);
  return (100 * (cpuMs(pid) - before)) / (performance.now() - begin);
}
