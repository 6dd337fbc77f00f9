import { beforeEach, expect, test } from '@jest/globals';
import { type RoutedRecord, readRoutedEntry } from '../../../src/delivery/log/routed-entry.js';
import { RoutedLog } from '../../../src/delivery/log/routed-log.js';
import { readStartEntry } from '../../../src/delivery/log/start-entry.js';
import { RecordRefused } from '../../../src/ports/broker.js';
import { eventually } from '../../support/eventually.js';
import { RecordingBroker } from '../../support/recording-broker.js';
import { silentLogger } from '../../support/silent-logger.js';

const TOPIC = 'webhooks.deliveries';

let broker: RecordingBroker;
let abandon: AbortController;
let log: RoutedLog;
beforeEach(() => {
  broker = new RecordingBroker();
  abandon = new AbortController();
  const signals = { abandon: abandon.signal, refused: () => undefined };
  log = new RoutedLog({ broker, logger: silentLogger, ...signals, topic: TOPIC, store: 'store-1' });
});

const routed = (offset: number): RoutedRecord => {
  return { offset, at: 1_000 + offset, accountId: 42, routed: 3, confirmed: 4, webhooks: [1, 2] };
};
const add = (offset: number, partition = 0) => log.add({ topic: 'payment-events', partition }, routed(offset));
const entries = () => broker.of(TOPIC).map(readRoutedEntry);

test('an entry reads as it was written, and names the store', async () => {
  await add(7, 3);
  const place = { topic: 'payment-events', partition: 3 };
  expect(entries()).toEqual([{ kind: 'routed', ...place, store: 'store-1', records: [routed(7)] }]);
});

test('records that come together share an entry, by partition, and of a bounded length', async () => {
  await Promise.all([...Array.from({ length: 250 }, (_, offset) => add(offset)), add(0, 1)]);
  const lengths = entries().map((entry) => [entry?.partition, entry?.records.length]);
  expect(lengths.sort()).toEqual([
    [0, 100],
    [0, 100],
    [0, 50],
    [1, 1],
  ]);
  const offsets = entries().flatMap((entry) => (entry?.partition === 0 ? entry.records : []));
  expect(offsets.map(({ offset }) => offset)).toEqual(Array.from({ length: 250 }, (_, offset) => offset));
});

test('an entry that the topic refuses is halved, and only what it refuses by itself is rejected', async () => {
  const whole = broker.publish.bind(broker);
  broker.publish = (topic, records) => {
    const offsets = records.flatMap((record) => readRoutedEntry(record)?.records.map(({ offset }) => offset) ?? []);
    const refused = offsets.includes(7) || offsets.length > 30;
    return refused ? Promise.reject(new RecordRefused('too large')) : whole(topic, records);
  };
  const added = await Promise.allSettled(Array.from({ length: 100 }, (_, offset) => add(offset)));
  expect(added.flatMap(({ status }, offset) => (status === 'rejected' ? [offset] : []))).toEqual([7]);
  expect(entries().flatMap((entry) => entry?.records ?? [])).toHaveLength(99);
});

test.each([null, 0, 40])(
  'a start entry reads as it was written, and has the key of the routed entries (%s)',
  async (expected) => {
    const start = { topic: 'payment-events', partition: 3, expected, offset: 7 };
    await Promise.all([log.started(start), add(7, 3)]);
    const [first, second] = broker.of(TOPIC);
    expect([first, second].map((record) => String(record?.key))).toEqual(['payment-events/3', 'payment-events/3']);
    expect([first, second].map((record) => record && readStartEntry(record))).toEqual([
      expect.objectContaining(start),
      null,
    ]);
  },
);

test.each([
  ['no JSON', 'start'],
  ['null', 'null'],
  ['a routed entry', '{"kind":"routed","topic":"t","partition":0,"store":"s","records":[]}'],
  ['without an offset', '{"kind":"start","topic":"t","partition":0,"expected":null}'],
  ['of a topic that is no text', '{"kind":"start","topic":1,"partition":0,"expected":null,"offset":0}'],
])('%s is no start entry', (_, text) => {
  expect(readStartEntry({ value: Buffer.from(text) })).toBeNull();
});

test('a broker that takes nothing is waited for, and what came meanwhile is written then', async () => {
  broker.failing.add(TOPIC);
  const first = add(1);
  await eventually(() => broker.refused === 1);
  const second = add(2);
  broker.failing.clear();
  await Promise.all([first, second]);
  expect(entries().flatMap((entry) => entry?.records)).toEqual([routed(1), routed(2)]);
});

test('given up by the stop it rejects', async () => {
  broker.failing.add(TOPIC);
  const added = add(1);
  await eventually(() => broker.refused === 1);
  abandon.abort();
  await expect(added).rejects.toThrow();
});

test.each([
  ['no JSON', 'routed'],
  ['null', 'null'],
  ['an entry of a delivery', '{"id":"msg_1","outcome":"delivered"}'],
  ['no records', '{"kind":"routed","topic":"t","partition":0,"store":"s"}'],
])('%s is no routed entry', (_, text) => {
  expect(readRoutedEntry({ value: Buffer.from(text) })).toBeNull();
});

test.each([
  ['null', 'null'],
  ['a record without webhooks', '{"offset":1}'],
  ['a record whose offset is a text', JSON.stringify({ ...routed(1), offset: '1' })],
])('%s among the records of an entry costs itself, and none of the others', (_, unsound) => {
  const [one, other] = [routed(1), routed(2)].map((record) => JSON.stringify(record));
  const text = `{"kind":"routed","topic":"t","partition":0,"store":"s","records":[${one},${unsound},${other}]}`;
  expect(readRoutedEntry({ value: Buffer.from(text) })?.records).toEqual([routed(1), routed(2)]);
});

// A producer that stamps in nanoseconds; no timestamp at all; the most that Kafka stores.
test.each([Number(1_763_900_000_123_456_789n), -1, Number(9_223_372_036_854_775_807n)])(
  'a timestamp of %d is kept',
  async (at) => {
    await log.add({ topic: 'payment-events', partition: 0 }, { ...routed(7), at });
    expect(entries()[0]?.records).toEqual([{ ...routed(7), at }]);
  },
);
