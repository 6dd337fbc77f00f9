/** The most memory a service with 100,000 webhooks has resident while it delivers 1,000 events a second, to 3 URLs each. */
import { peakMemoryMiB } from '../../test/support/clients/process-stats.js';
import type { handlers as publisherHandlers } from '../processes/publisher.js';
import { allArrived } from '../support/arrivals.js';
import { Child } from '../support/child.js';
import { amount } from '../support/format.js';
import { type Installation, openInstallation, startService } from '../support/installation.js';
import { populate } from '../support/population.js';
import { eachRound } from '../support/rounds.js';
import type { Outcome, Row, Tell } from '../support/row.js';
import { WEBHOOKS } from '../support/sizes.js';

const ACCOUNTS = Math.ceil(WEBHOOKS / 3);
const PER_SECOND = 1_000;
const URLS = 3;
/** Until each account had an event, and a quarter more: what is cached of accounts is not all there before. */
const LOAD_SECONDS = Math.ceil((1.25 * ACCOUNTS) / PER_SECOND);

export const memory: Row = {
  name: 'memory',
  title: `Memory, ${WEBHOOKS.toLocaleString('en-US')} webhooks, 1,000 events/s to 3 URLs each, most resident`,
  figure: { kind: 'below', value: 300, unit: 'MiB' },
  run,
};

interface Seen {
  readonly peakMiB: number;
  readonly perSecond: number;
}

/** Each round is a process of its own, with the read model there from the first on. */
async function run(tell: Tell): Promise<Outcome> {
  const installation = await openInstallation({ receivers: 1 });
  const [origin] = installation.origins;
  const urls = (accountId: number) => ['one', 'two', 'three'].map((name) => `${origin}/${name}/${accountId}`);
  try {
    await populate(installation.settings, { accounts: ACCOUNTS, urls }, tell);
    await (await startService(installation.settings)).stop('SIGTERM');
    const said = ({ peakMiB, perSecond }: Seen) => `${amount(peakMiB, 'MiB')} at ${amount(perSecond, 'a second')}`;
    const rounds = await eachRound(tell, () => underLoad(installation), said);
    return {
      kind: 'measured',
      values: rounds.map(({ peakMiB }) => peakMiB),
      sides: [{ name: 'deliveries', unit: 'a second', values: rounds.map(({ perSecond }) => perSecond) }],
      notes: [`After ${LOAD_SECONDS} s, each account had an event, in a new process each round.`],
    };
  } finally {
    await installation.close();
  }
}

async function underLoad({ settings, receivers }: Installation): Promise<Seen> {
  const service = await startService(settings);
  const publisher: Child<typeof publisherHandlers> = await Child.start('publisher');
  try {
    await publisher.ask('open', { settings, accounts: { first: 1, count: ACCOUNTS } });
    const before = await receivers.ask('sample');
    const published = await publisher.ask('publishSteadily', { perSecond: PER_SECOND, seconds: LOAD_SECONDS });
    const at = await allArrived(receivers, URLS * published, before);
    return { peakMiB: peakMemoryMiB(service.pid), perSecond: (1_000 * URLS * published) / (at - before.at) };
  } finally {
    await publisher.stop();
    await service.stop('SIGTERM');
  }
}
