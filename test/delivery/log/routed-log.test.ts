import { beforeEach, expect, test } from '@jest/globals';
import { type RoutedRecord, readRoutedEntry } from '../../../src/delivery/log/routed-entry.js';
import { RoutedLog } from '../../../src/delivery/log/routed-log.js';
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
  ['a record that is null', '{"kind":"routed","topic":"t","partition":0,"store":"s","records":[null]}'],
  ['a record without webhooks', '{"kind":"routed","topic":"t","partition":0,"store":"s","records":[{"offset":1}]}'],
])('%s is no routed entry', (_, text) => {
  expect(readRoutedEntry({ value: Buffer.from(text) })).toBeNull();
});
