import { type Delivery, toMember } from '../../../src/delivery/delivery.js';
import { endpointKey } from '../../../src/delivery/endpoint-key.js';
import { MAX_BUNDLE_BYTES } from '../../../src/delivery/retry/bundle.js';
import { type BundlePlace, BundleWriter } from '../../../src/delivery/retry/bundle-writer.js';
import { BrokerRefused } from '../../../src/ports/broker.js';
import { deliveriesIn } from '../../support/generators/bundles.js';
import { deliveryTo } from '../../support/generators/delivery-samples.js';
import { silentLogger } from '../../support/scenes/silent-logger.js';
import { RecordingBroker } from '../../support/servers/recording-broker.js';

const TIER = 'webhooks.deferred.5s';
const PLACE: BundlePlace = {
  topic: TIER,
  endpoint: endpointKey(42, 'https://shop.example.com/hook'),
  wait: { due: 5_000, moreMs: 0 },
  isUrgent: false,
};

let broker: RecordingBroker;
let flushes: (() => void)[];
let abandon: AbortController;
let writer: BundleWriter;
beforeEach(() => {
  broker = new RecordingBroker();
  flushes = [];
  abandon = new AbortController();
  writer = new BundleWriter({
    ...{ broker, logger: silentLogger, abandon: abandon.signal, refused: () => undefined },
    later: (flush) => {
      flushes.push(flush);
      return () => void flushes.splice(flushes.indexOf(flush), 1);
    },
  });
});

const named = (id: string, changes: Partial<Delivery> = {}) => toMember(deliveryTo(1, { id, ...changes }));
const pass = () => {
  for (const flush of [...flushes]) flush();
};
const written = (topic = TIER) => broker.of(topic).map((record) => deliveriesIn(record).map(({ id }) => id));

test('deliveries for the same place that come together are one record, in their order', async () => {
  const durable = Promise.all(['a', 'b', 'c'].map((id) => writer.gather(PLACE, named(id))));
  expect(written()).toEqual([]);
  pass();
  await durable;
  expect(written()).toEqual([['a', 'b', 'c']]);
});

test.each<readonly [string, Partial<BundlePlace>]>([
  ['endpoint', { endpoint: endpointKey(42, 'https://shop.example.com/other') }],
  ['time', { wait: { due: 6_000, moreMs: 0 } }],
  ['time in other tiers', { wait: { due: 5_000, moreMs: 1 } }],
  ['urgency', { isUrgent: true }],
])('those of another %s have a record of their own', async (_, other) => {
  const durable = [writer.gather(PLACE, named('a')), writer.gather({ ...PLACE, ...other }, named('b'))];
  pass();
  await Promise.all(durable);
  expect(written()).toEqual([['a'], ['b']]);
});

test('a retry is written immediately and alone, and later ones are gathered', async () => {
  const durable = writer.gather(PLACE, named('a'));
  await writer.write(PLACE, named('b'));
  expect(written()).toEqual([['b']]);
  pass();
  await durable;
  expect(written()).toEqual([['b'], ['a']]);
});

test('a record has 500 deliveries at most, and is written once it has them', async () => {
  const durable = Array.from({ length: 501 }, (__, n) => writer.gather(PLACE, named(`${n}`)));
  await durable[0];
  expect(written().map(({ length }) => length)).toEqual([500]);
  pass();
  await Promise.all(durable);
  expect(written().map(({ length }) => length)).toEqual([500, 1]);
});

test('a record has 512 KiB at most, unless one delivery has more', async () => {
  const record = (bytes: number) => ({ key: null, value: Buffer.alloc(bytes), headers: [] });
  const third = MAX_BUNDLE_BYTES / 3;
  const durable = [third, third, third, MAX_BUNDLE_BYTES + 1, 1].map((bytes, n) =>
    writer.gather(PLACE, named(`${n}`, { record: record(bytes) })),
  );
  pass();
  await Promise.all(durable);
  expect(written()).toEqual([['0', '1'], ['2'], ['3'], ['4']]);
});

test('nobody is told that a delivery is durable before it is', async () => {
  broker.denied.add(TIER);
  const durable = Promise.allSettled([writer.gather(PLACE, named('a')), writer.gather(PLACE, named('b'))]);
  pass();
  expect(await durable).toMatchObject(Array(2).fill({ status: 'rejected', reason: expect.any(BrokerRefused) }));
  expect(written()).toEqual([]);
});

test('deliveries wait for a broker that is unavailable, and end as the service abandons its work', async () => {
  broker.failing.add(TIER);
  const durable = Promise.allSettled([writer.gather(PLACE, named('a')), writer.gather(PLACE, named('b'))]);
  pass();
  abandon.abort();
  expect(await durable).toMatchObject(Array(2).fill({ status: 'rejected' }));
});
