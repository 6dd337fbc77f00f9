/**
 * A start of a dispatcher with many retained requests: how soon it sends a payment that waits, with its file of requests and
 * after that file was lost, when the whole topic is read again.
 */
import { join } from 'node:path';
import { SqliteBroker } from '../../src/adapters/sqlite/broker.js';
import { REQUESTS_FILE } from '../../src/adapters/sqlite/request-chains.js';
import { StoreFile } from '../../src/adapters/sqlite/store-file.js';
import { toCancellation, toRequest } from '../../src/delivery/again/request.js';
import { newDelivery } from '../../src/delivery/delivery.js';
import type { NewRecord } from '../../src/ports/broker.js';
import { cpuMs, peakMemoryMiB } from '../../test/support/clients/process-stats.js';
import { startServing } from '../../test/support/clients/service.js';
import { named, received } from '../../test/support/generators/delivery-samples.js';
import { detail } from '../../test/support/scenes/recoverable-view.js';
import type { handlers as publisherHandlers } from '../processes/publisher.js';
import { allArrived } from '../support/arrivals.js';
import { Child } from '../support/child.js';
import { machineMs } from '../support/clock.js';
import { remove } from '../support/folders.js';
import { amount } from '../support/format.js';
import { endsWithUs, type Installation, openInstallation, profiling } from '../support/installation.js';
import { payment } from '../support/payments.js';
import { populate } from '../support/population.js';
import { eachRound } from '../support/rounds.js';
import type { Outcome, Row, Tell } from '../support/row.js';
import { RETAINED_REQUESTS } from '../support/sizes.js';

const ACCOUNT = 1;
/** Its requests are retained, and done: nothing of it is sent. */
const OTHER = 2;
const REQUESTS_PER_CALL = 1_000;
/** The others were made by recoveries, in the order of their payments. */
const CANCELLATION_EVERY = 10;
const RECOVER = { trigger: 'recover', actor: 'bench', recovery: 'recovery-1' } as const;
/** On a machine that does something else as well. */
const SENT_WITHIN_MS = 30 * 60_000;

export const retainedRequests: Row = {
  name: 'retained-requests',
  title: `Restart with ${RETAINED_REQUESTS.toLocaleString('en-US')} retained requests, embedded: first payment sent`,
  figure: { kind: 'below', value: 5, unit: 's' },
  run,
};

interface Scene extends Installation {
  readonly publisher: Child<typeof publisherHandlers>;
}

interface Start {
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly memoryMiB: number;
}

async function run(tell: Tell): Promise<Outcome> {
  const installation = await openInstallation({ receivers: 1 });
  const { settings, origins } = installation;
  const publisher: Scene['publisher'] = await Child.start('publisher');
  try {
    const urls = (accountId: number) => (accountId === ACCOUNT ? [`${origins[0]}/payments`] : []);
    await populate(settings, { accounts: OTHER, urls }, tell);
    await publisher.ask('open', { settings, accounts: { first: ACCOUNT, count: 1 } });
    const scene = { ...installation, publisher };
    // Its consumers are in their groups from here on.
    await firstSent(scene);
    await retainRequests(settings.DATA_DIR ?? '', tell);
    const turn = async () => {
      remove(join(settings.DATA_DIR ?? '', REQUESTS_FILE));
      const lost = await firstSent(scene);
      return { lost, restarted: await firstSent(scene) };
    };
    const said = ({ seconds, cpuSeconds }: Start) => `${amount(seconds, 's')} (${amount(cpuSeconds, 's')} of CPU)`;
    const starts = await eachRound(tell, turn, ({ restarted, lost }) => `${said(restarted)}, file lost ${said(lost)}`);
    const side = (name: string, unit: 's' | 'MiB', value: (one: (typeof starts)[number]) => number) => ({
      ...{ name, unit, values: starts.map(value) },
    });
    return {
      kind: 'measured',
      values: starts.map(({ restarted }) => restarted.seconds),
      sides: [
        side('CPU until then', 's', ({ restarted }) => restarted.cpuSeconds),
        side('after the file of requests was lost', 's', ({ lost }) => lost.seconds),
        side('CPU until then', 's', ({ lost }) => lost.cpuSeconds),
        side('most resident', 'MiB', ({ lost }) => lost.memoryMiB),
      ],
      notes: ['From the start of the process to the receiver.'],
    };
  } finally {
    await publisher.stop();
    await installation.close();
  }
}

/** A payment waits for the dispatcher that is started. */
async function firstSent({ settings, receivers, publisher }: Scene): Promise<Start> {
  const before = await receivers.ask('sample');
  await publisher.ask('publish', 1);
  const begin = machineMs();
  const dispatcher = await startServing({ ...settings, ...profiling() }, ['--roles', 'dispatcher'], SENT_WITHIN_MS);
  endsWithUs(dispatcher);
  const at = await allArrived(receivers, 1, before, SENT_WITHIN_MS);
  const [cpu, memoryMiB] = [cpuMs(dispatcher.pid), peakMemoryMiB(dispatcher.pid)];
  await dispatcher.stop('SIGTERM');
  return { seconds: (at - begin) / 1_000, cpuSeconds: cpu / 1_000, memoryMiB };
}

/** As they are in the topic once a dispatcher is done with all of them. */
async function retainRequests(dataDir: string, tell: Tell): Promise<void> {
  const file = new StoreFile(dataDir);
  const broker = new SqliteBroker(file);
  for (let first = 0; first < RETAINED_REQUESTS; first += REQUESTS_PER_CALL) {
    const count = Math.min(REQUESTS_PER_CALL, RETAINED_REQUESTS - first);
    const requests = Array.from({ length: count }, (_, n) => requestFor(first + n));
    await broker.publish('webhooks.requests', requests);
    if (first % 100_000 === 0) tell(`requests from ${first} on, of ${RETAINED_REQUESTS}`);
  }
  file.file.exec(`UPDATE group_offsets SET next_offset = (SELECT next_offset FROM topics WHERE id = group_offsets.topic)
    WHERE topic = (SELECT id FROM topics WHERE name = 'webhooks.requests')`);
  await broker.close();
  file.close();
}

function requestFor(n: number): NewRecord {
  const event = { id: `pay-${n}`, type: 'cash_in', accountId: OTHER } as const;
  const record = { key: Buffer.from(String(OTHER)), value: payment(event.id, OTHER), headers: [] };
  const delivery = newDelivery(event, named(1), received(record, { offset: 3 * n }));
  if (n % CANCELLATION_EVERY > 0) return toRequest(delivery, RECOVER);
  return toCancellation([detail(1, { id: delivery.id, accountId: OTHER, payment: delivery.payment ?? '' })], 'bench');
}
