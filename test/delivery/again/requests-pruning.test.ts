import { SqliteBroker } from '../../../src/adapters/sqlite/broker.js';
import { StoreFile } from '../../../src/adapters/sqlite/store-file.js';
import { toRequest } from '../../../src/delivery/again/request.js';
import { Requests } from '../../../src/delivery/again/requests.js';
import { RequestsPruning } from '../../../src/delivery/again/requests-pruning.js';
import { newDelivery } from '../../../src/delivery/delivery.js';
import { topicsOf } from '../../../src/delivery/topics.js';
import { eventually } from '../../support/clocks/eventually.js';
import { retryRecord } from '../../support/generators/bundles.js';
import { EVENT, named, paymentRecord, received } from '../../support/generators/delivery-samples.js';
import { MemoryRequestChains } from '../../support/scenes/memory-request-chains.js';
import { silentLogger } from '../../support/scenes/silent-logger.js';
import { temporaryDirectory } from '../../support/scenes/temporary-directory.js';

const TOPICS = topicsOf(['payment-events'], '');
const TIER = 'webhooks.retry.5m';
const RESEND = { trigger: 'resend', actor: 'ana' } as const;

let folder: ReturnType<typeof temporaryDirectory>;
let file: StoreFile;
let broker: SqliteBroker;
let following: AbortController;
/** The broker's clock, ms since the epoch. */
let now: number;
let chains: MemoryRequestChains;

beforeEach(async () => {
  folder = temporaryDirectory();
  file = new StoreFile(folder.path);
  now = 1_000;
  broker = new SqliteBroker(file, undefined, () => now);
  following = new AbortController();
  chains = new MemoryRequestChains();
  await broker.ensureTopics([...TOPICS.payments, TOPICS.requests, TIER]);
});
afterEach(async () => {
  following.abort();
  await broker.close();
  file.close();
  folder.remove();
});

const delivery = (offset: number) => newDelivery(EVENT, named(1), received(paymentRecord(), { offset }));
const request = (offset: number) => broker.publish(TOPICS.requests, [toRequest(delivery(offset), RESEND)]);

/** Two requests at 2,000 and 3,000 ms, of which the topic has deleted the first; a third one at 4,000. */
async function deletedFirst(): Promise<void> {
  for (const offset of [7, 8, 9]) {
    now += 1_000;
    await request(offset);
  }
  const parts = { broker, topics: TOPICS, logger: silentLogger, requestChains: chains, store: 'store-1' };
  await new Requests(parts).start(following.signal);
  file.file.exec(
    `DELETE FROM records WHERE offset = 0 AND topic = (SELECT id FROM topics WHERE name = '${TOPICS.requests}')`,
  );
}

/** As the group of the retries, or of the payments, has done all records of the topic. */
async function done(topic: string, group = 'test.retry'): Promise<void> {
  let count = 0;
  const { next = 0 } = (await broker.extent(topic)).get(0) ?? {};
  const handle = async () => {
    count += 1;
  };
  const consumer = await broker.consume({ topics: [topic], group, inFlight: 10, accept: () => ({ handle }) });
  const { first = 0 } = (await broker.extent(topic)).get(0) ?? {};
  await eventually(() => count >= next - first);
  await consumer.close();
}

const prune = () =>
  new RequestsPruning({ broker, topics: TOPICS, group: 'test', requestChains: chains, logger: silentLogger }).prune(
    following.signal,
  );
const left = () => [7, 8, 9].map((offset) => chains.latest(delivery(offset).id, delivery(offset).payment));

test('a chain is deleted once its topic has deleted the request', async () => {
  await deletedFirst();
  await done(TOPICS.requests);
  await prune();
  expect(left()).toEqual([0, 2, 3]);
});

test.each([
  ['a tier', TIER, 'test.retry', () => retryRecord(delivery(7), 0)],
  ['the payments', 'payment-events', 'test', () => paymentRecord()],
])('a chain stays while a record of %s waits that is older than its request', async (_, topic, group, record) => {
  await broker.publish(topic, [record()]);
  await deletedFirst();
  await done(TOPICS.requests);
  await prune();
  expect(left()).toEqual([1, 2, 3]);
  await done(topic, group);
  await prune();
  expect(left()).toEqual([0, 2, 3]);
});

test('a chain is deleted although younger records wait', async () => {
  await deletedFirst();
  await broker.publish(TIER, [retryRecord(delivery(9), 0)]);
  await prune();
  expect(left()).toEqual([0, 2, 3]);
});
