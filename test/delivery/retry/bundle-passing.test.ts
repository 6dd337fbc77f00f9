import type { Delivery } from '../../../src/delivery/delivery.js';
import { createAcceptBundle } from '../../../src/delivery/retry/accept-bundle.js';
import { waitOf } from '../../../src/delivery/retry/bundle.js';
import { BundlePassing } from '../../../src/delivery/retry/passing.js';
import { topicsOf } from '../../../src/delivery/topics.js';
import { bundleOf, decoded, deliveriesIn } from '../../support/generators/bundles.js';
import { deliveryTo, NOW, received } from '../../support/generators/delivery-samples.js';
import { silentLogger } from '../../support/scenes/silent-logger.js';
import { RecordingBroker } from '../../support/servers/recording-broker.js';

const TIER = 'webhooks.deferred.10s';
const topics = topicsOf(['payment-events'], '');
const { retry, deferred } = topics.tiers([]);

let broker: RecordingBroker;
let superseded: string[];
let passing: BundlePassing;
beforeEach(() => {
  broker = new RecordingBroker();
  superseded = [];
  const requests = { laterChain: ({ id }: Pick<Delivery, 'id'>) => (superseded.includes(id) ? 9 : null) };
  const signals = { abandon: new AbortController().signal, refused: () => undefined };
  passing = new BundlePassing({ broker, logger: silentLogger, topics, requests, now: () => NOW, ...signals }, [
    ...retry,
    ...deferred,
  ]);
});

const bundle = (moreMs = 0) =>
  received(bundleOf([deliveryTo(1, { id: 'a', usedMs: 7 }), deliveryTo(1, { id: 'b' })], NOW, moreMs), { topic: TIER });
const passed = (tier = TIER) => broker.of(tier);

test('a bundle whose wait is over is not passed on', async () => {
  expect(await passing.passOn(decoded(bundle()))).toBe(false);
  expect(broker.topics).toEqual([]);
});

test('what is left of its wait is passed in another tier, with its members as they are', async () => {
  expect(await passing.passOn(decoded(bundle(40_000)))).toBe(true);
  const [record] = passed('webhooks.deferred.40s');
  expect(record && waitOf(record)).toEqual({ due: NOW + 40_000, moreMs: 0 });
  expect(record && deliveriesIn(record)).toMatchObject([{ id: 'a', usedMs: 7, deferrals: 0 }, { id: 'b' }]);
  expect(record?.key).toEqual(bundle().key);
});

test('members that a request ended are left out, and a bundle of them ends', async () => {
  superseded = ['a'];
  expect(await passing.passOn(decoded(bundle(40_000)))).toBe(true);
  expect(passed('webhooks.deferred.40s').flatMap(deliveriesIn)).toMatchObject([{ id: 'b' }]);
  broker.forget();
  superseded = ['a', 'b'];
  expect(await passing.passOn(decoded(bundle(40_000)))).toBe(true);
  expect(broker.topics).toEqual([]);
});

test('one of too many has another turn in its tier, and its time counts', async () => {
  expect(await passing.passOn(decoded(bundle()), false)).toBe(true);
  const [record] = passed();
  expect(record && waitOf(record)).toEqual({ due: NOW + 10_000, moreMs: 0, addedMs: 10_000 });
  broker.forget();
  await passing.passOn(
    decoded({ ...bundle(), ...record, topic: TIER, partition: 0, offset: 1, timestamp: NOW }),
    false,
  );
  // Its time is not over yet by its own word, but it was handed out.
  expect(passed().map(waitOf)).toEqual([{ due: NOW + 10_000, moreMs: 0, addedMs: 20_000 }]);
});

test('members that were done before a rebalance are left out: their deliveries would be attempted again', async () => {
  const accept = createAcceptBundle({
    ...{ broker, topics, logger: silentLogger, requests: { laterChain: () => null }, schedule: [], now: () => NOW },
    ...{ abandon: new AbortController().signal, closing: new AbortController().signal, refused: () => undefined },
    unpacking: { hasRoom: () => false, unpack: () => Promise.reject(new Error('it has no room')) },
    refuse: () => Promise.reject(new Error('it is a bundle')),
  });
  const hold = {
    isOwn: () => true,
    partDone: () => undefined,
    isPartDone: (part: number) => part === 0,
    keep: () => undefined,
  };
  const { handle } = accept(bundle());
  await handle(bundle(), hold);
  expect(passed().flatMap(deliveriesIn)).toMatchObject([{ id: 'b' }]);
  broker.forget();
  await handle(bundle(), { ...hold, isPartDone: () => true });
  expect(broker.topics).toEqual([]);
});
