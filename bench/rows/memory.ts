/** The most memory a service with 100,000 webhooks has resident while it delivers 1,000 events a second, to 3 URLs each. */
import { setTimeout as delay } from 'node:timers/promises';
import { peakMemoryMiB } from '../../test/support/process-stats.js';
import type { handlers as publisherHandlers } from '../processes/publisher.js';
import { Child } from '../support/child.js';
import { amount } from '../support/format.js';
import { type Installation, openInstallation, startService } from '../support/installation.js';
import { ACCOUNTS, manyWebhooks, RECEIVER_PORT } from '../support/many-webhooks.js';
import type { Outcome, Row, Tell } from '../support/row.js';
import { ROUNDS, WEBHOOKS } from '../support/sizes.js';

const PER_SECOND = 1_000;
const URLS = 3;
/** Until each account had an event, and a quarter more: what is cached of accounts is not all there before. */
const LOAD_SECONDS = Math.ceil((1.25 * ACCOUNTS) / PER_SECOND);
const LOOK_EVERY_MS = 50;
const ARRIVED_WITHIN_MS = 60_000;

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
  const dataDir = await manyWebhooks(tell);
  const installation = await openInstallation({ dataDir, port: RECEIVER_PORT });
  const rounds: Seen[] = [];
  try {
    await (await startService(installation.settings)).stop('SIGTERM');
    for (let round = 1; round <= ROUNDS; round += 1) {
      const seen = await underLoad(installation);
      rounds.push(seen);
      tell(`round ${round}: ${amount(seen.peakMiB, 'MiB')} at ${amount(seen.perSecond, 'a second')}`);
    }
  } finally {
    await installation.close();
  }
  return {
    kind: 'measured',
    values: rounds.map(({ peakMiB }) => peakMiB),
    sides: [{ name: 'deliveries', unit: 'a second', values: rounds.map(({ perSecond }) => perSecond) }],
    notes: [`After ${LOAD_SECONDS} s, each account had an event, in a new process each round.`],
  };
}

async function underLoad({ settings, receivers }: Installation): Promise<Seen> {
  const service = await startService(settings);
  const publisher: Child<typeof publisherHandlers> = await Child.start('publisher');
  try {
    await publisher.ask('open', { settings, accounts: { first: 1, count: ACCOUNTS } });
    const before = await receivers.ask('sample');
    const published = await publisher.ask('publishSteadily', { perSecond: PER_SECOND, seconds: LOAD_SECONDS });
    const deadline = performance.now() + ARRIVED_WITHIN_MS;
    for (;;) {
      const { answered, at } = await receivers.ask('sample');
      const count = answered - before.answered;
      if (count >= URLS * published || performance.now() > deadline) {
        if (count < URLS * published) throw new Error(`of ${URLS * published} deliveries ${count} came`);
        return { peakMiB: peakMemoryMiB(service.pid), perSecond: (1_000 * count) / (at - before.at) };
      }
      await delay(LOOK_EVERY_MS);
    }
  } finally {
    await publisher.stop();
    await service.stop('SIGTERM');
  }
}
