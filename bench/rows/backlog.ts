/**
 * A backlog of 64,000 payments at a start, for 100 accounts with three URLs of 10 ms each: the peak memory of the process until
 * all are delivered. The same in a cgroup of 400 MiB, where there is one to have.
 */
import { peakMemoryMiB } from '../../test/support/clients/process-stats.js';
import type { Settings } from '../../test/support/clients/service.js';
import type { handlers as publisherHandlers } from '../processes/publisher.js';
import { allArrived } from '../support/arrivals.js';
import { memoryCgroup } from '../support/cgroup.js';
import { Child } from '../support/child.js';
import { machineMs } from '../support/clock.js';
import { amount } from '../support/format.js';
import { openInstallation, startService } from '../support/installation.js';
import { populate } from '../support/population.js';
import { eachRound } from '../support/rounds.js';
import type { Outcome, Row, Tell } from '../support/row.js';

const [PAYMENTS, ACCOUNTS, URLS, ANSWER_MS] = [64_000, 100, 3, 10];
const BATCH_SIZE = 500;
const CGROUP_MIB = 400;
const WITHIN_MS = 10 * 60_000;

interface Drained {
  readonly peakMiB: number;
  readonly seconds: number;
}

export const backlog: readonly Row[] = [
  {
    name: 'backlog',
    title: `A backlog of ${PAYMENTS.toLocaleString('en-US')} payments to ${URLS} URLs each: peak memory`,
    figure: { kind: 'below', value: 350, unit: 'MiB' },
    run: (tell) => run({}, tell),
  },
  {
    name: 'backlog-cgroup',
    title: `The same in a cgroup of ${CGROUP_MIB} MiB: peak memory, and every payment is delivered`,
    figure: { kind: 'below', value: CGROUP_MIB, unit: 'MiB' },
    run: async (tell) => {
      const cgroup = memoryCgroup(CGROUP_MIB);
      if (cgroup.kind === 'unavailable') {
        tell(`SKIPPED: ${cgroup.why}`);
        return { kind: 'not measured', why: `SKIPPED, ${cgroup.why}` };
      }
      return run(cgroup.settings, tell).finally(cgroup.remove);
    },
  },
];

async function run(settings: Settings, tell: Tell): Promise<Outcome> {
  const drained = await eachRound(
    tell,
    () => turn(settings, tell),
    ({ peakMiB, seconds }) => `${amount(peakMiB, 'MiB')}, delivered within ${amount(seconds, 's')}`,
  );
  return {
    kind: 'measured',
    values: drained.map(({ peakMiB }) => peakMiB),
    sides: [{ name: 'until the last delivery', unit: 's', values: drained.map(({ seconds }) => seconds) }],
    notes: [],
  };
}

async function turn(settings: Settings, tell: Tell): Promise<Drained> {
  const installation = await openInstallation();
  const publisher: Child<typeof publisherHandlers> = await Child.start('publisher');
  try {
    const urls = (id: number) => installation.origins.map((origin) => `${origin}/after${ANSWER_MS}/${id}`);
    await populate(installation.settings, { accounts: ACCOUNTS, urls }, tell);
    // The consumers join their groups, so that the next start finds the backlog.
    await (await startService(installation.settings)).stop('SIGTERM');
    await publisher.ask('open', { settings: installation.settings, accounts: { first: 1, count: ACCOUNTS } });
    for (let n = 0; n < PAYMENTS; n += BATCH_SIZE) await publisher.ask('publish', BATCH_SIZE);
    await publisher.stop();
    const before = await installation.receivers.ask('sample');
    const startedAt = machineMs();
    const service = await startService({ ...installation.settings, ...settings });
    try {
      const at = await allArrived(installation.receivers, URLS * PAYMENTS, before, WITHIN_MS);
      return { peakMiB: peakMemoryMiB(service.pid), seconds: (at - startedAt) / 1_000 };
    } finally {
      await service.stop('SIGTERM');
    }
  } finally {
    await publisher.stop();
    await installation.close();
  }
}
