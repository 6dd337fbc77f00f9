import { SqliteBroker } from '../../../src/adapters/sqlite/broker.js';
import { StoreFile } from '../../../src/adapters/sqlite/store-file.js';
import { type Request, requestIn, toCancellation, toRequest } from '../../../src/delivery/again/request.js';
import { Requests, type RequestsParts } from '../../../src/delivery/again/requests.js';
import { newDelivery } from '../../../src/delivery/delivery.js';
import { BrokerUnavailable, type FollowOptions, type NewRecord, type Positions } from '../../../src/ports/broker.js';
import { eventually } from '../../support/clocks/eventually.js';
import { EVENT, named, paymentRecord, received } from '../../support/generators/delivery-samples.js';
import { MemoryRequestChains } from '../../support/scenes/memory-request-chains.js';
import { recordingLogger } from '../../support/scenes/recording-logger.js';
import { detail } from '../../support/scenes/recoverable-view.js';
import { temporaryDirectory } from '../../support/scenes/temporary-directory.js';

const TOPIC = 'webhooks.requests';
const RESEND = { trigger: 'resend', actor: 'ana' } as const;

let folder: ReturnType<typeof temporaryDirectory>;
let file: StoreFile;
let broker: SqliteBroker;
let following: AbortController;
let logger: ReturnType<typeof recordingLogger>;

beforeEach(async () => {
  folder = temporaryDirectory();
  file = new StoreFile(folder.path);
  broker = new SqliteBroker(file);
  await broker.ensureTopics([TOPIC]);
  following = new AbortController();
  logger = recordingLogger();
});
afterEach(async () => {
  following.abort();
  await broker.close();
  file.close();
  folder.remove();
});

async function started(parts: Partial<RequestsParts> = {}): Promise<Requests> {
  const requests = new Requests({
    broker,
    topics: { requests: TOPIC },
    logger,
    requestChains: new MemoryRequestChains(),
    store: 'store-1',
    pause: async () => undefined,
    ...parts,
  });
  await requests.start(following.signal);
  return requests;
}

const delivery = (offset = 7, webhookId = 1) =>
  newDelivery(EVENT, named(webhookId), received(paymentRecord(), { offset }));
const publish = (...records: NewRecord[]) => broker.publish(TOPIC, records);
const resend = (...about: Parameters<typeof delivery>) => publish(toRequest(delivery(...about), RESEND));

test('a request ends the earlier chains of its delivery, and of no other', async () => {
  await resend(9);
  await resend(7);
  const requests = await started();
  const later = (changes: object, ...about: Parameters<typeof delivery>) =>
    requests.laterChain({ ...delivery(...about), ...changes });
  expect(later({})).toBe(2);
  expect(later({ chain: 1 })).toBe(2);
  expect(later({ chain: 2 })).toBeNull();
  expect(later({}, 8)).toBeNull();
  expect(later({}, 7, 2)).toBeNull();
});

test('a cancellation ends all publications that it names', async () => {
  const [one, other, third] = [7, 8, 9].map((offset) => delivery(offset));
  const publications = [one, other].map((known) => detail(1, { id: known?.id ?? '', payment: known?.payment ?? '' }));
  await publish(toCancellation([publications[0] as never, ...publications.slice(1)], 'ana'));
  const requests = await started();
  expect([one, other, third].map((known) => known && requests.laterChain(known))).toEqual([1, 1, null]);
});

test('a request that is published later counts too, and foreign records do not disturb', async () => {
  const requests = await started();
  await publish({ key: null, value: null, headers: [] }, { key: null, value: Buffer.from('{'), headers: [] });
  await resend();
  await eventually(() => requests.laterChain(delivery()) === 3);
});

test('a request counts as soon as this process consumes it, whatever it has read', async () => {
  const requestChains = new MemoryRequestChains();
  const requests = new Requests({ broker, topics: { requests: TOPIC }, logger, requestChains, store: 'store-1' });
  const record = { ...toRequest(delivery(), RESEND), topic: TOPIC, partition: 0, offset: 4, timestamp: 1 };
  requests.learn(requestIn(record) as Request);
  expect(requests.laterChain(delivery())).toBe(5);
});

test('reading on that fails is retried, and misses no request', async () => {
  let failures = 0;
  const failing = {
    extent: (topic: string) => broker.extent(topic),
    read: broker.read.bind(broker),
    follow: (topic: string, positions: Positions, options: FollowOptions) => {
      if (failures === 2) return broker.follow(topic, positions, options);
      failures += 1;
      throw new BrokerUnavailable('away');
    },
  };
  const requests = await started({ broker: failing });
  await resend();
  await eventually(() => requests.laterChain(delivery()) === 1);
  expect([failures, logger.warnings.length]).toEqual([2, 2]);
});

test('a topic that the broker can not read holds no payment back, and is followed from its start once it can', async () => {
  await resend(7);
  let isDamaged = true;
  const follow = (topic: string, positions: Positions, options: FollowOptions) => {
    if (isDamaged) throw new BrokerUnavailable('damaged');
    return broker.follow(topic, positions, options);
  };
  const pause = async () => {
    isDamaged = false;
  };
  const requests = await started({
    broker: { extent: (topic) => broker.extent(topic), read: broker.read.bind(broker), follow },
    pause,
  });
  await eventually(() => requests.laterChain(delivery(7)) === 1);
});
