import type { NewRecord, ReceivedRecord, RecordHeader } from '../../../src/ports/broker.js';
import { topicRecords } from '../../../src/ports/topic-records.js';
import { unique } from '../contract.js';
import { type BrokerCase, brokerCase, KEY, named, record, records, type Scenario, textOf, texts } from './inbox.js';

const durability: BrokerCase[] = [
  brokerCase('what publish resolved for is in the topic at once', async (s) => {
    for (const names of [['a', 'b', 'c'], ['d'], named(50, 'e')]) {
      const before = texts(await s.browse());
      await s.publish(names);
      expect(texts(await s.browse())).toEqual([...before, ...names]);
    }
  }),
  brokerCase('what publish resolved for is seen by another process at once', async (s) => {
    const other = await s.subject.another();
    await s.publish(['a', 'b', 'c']);
    expect(texts(await s.browse(s.topic, other))).toEqual(['a', 'b', 'c']);
  }),
  brokerCase('what publish resolved for is there when the broker is opened again', async (s) => {
    await s.publish(['a', 'b', 'c']);
    await s.subject.reopen();
    expect(texts(await s.browse())).toEqual(['a', 'b', 'c']);
    await s.witness(3);
  }),
];

const order: BrokerCase[] = [
  brokerCase('records of one call keep their order within a partition', async (s) => {
    await s.publish(named(500));
    expect(texts(await s.browse())).toEqual(named(500));
  }),
  brokerCase('records of one key are in one partition', async (s) => {
    for (const name of named(10)) await s.broker.publish(s.topic, [record(name), record(name, unique('key'))]);
    const ofKey = (await s.browse()).filter(({ key }) => String(key) === KEY);
    expect(new Set(ofKey.map(({ partition }) => partition)).size).toBe(1);
  }),
];

const keyedByText = (one: NewRecord, n: number) => ({ ...one, key: n % 3 === 0 ? null : one.value });

const numbered: BrokerCase[] = [
  brokerCase('publish gives the offset of each record, in the order of its call', async (s) => {
    // Calls share batches, and their keys mix the partitions within one.
    const calls = named(60).map((call) => records(named(1 + (Number(call) % 7), `${call}.`)).map(keyedByText));
    const offsets = await Promise.all(calls.map((call) => s.broker.publish(s.topic, call)));
    const given = calls.flatMap((call, n) => call.map((one, at) => `${textOf(one)} at ${offsets[n]?.[at]}`));
    const stored = (await s.browse()).map((one) => `${textOf(one)} at ${one.offset}`);
    expect(given.sort()).toEqual(stored.sort());
  }),
];

const header = (name: string, value: string | Buffer) => [name, Buffer.from(value)] as const;
const everyByte = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
const plain = record('value');

const SHAPES: readonly (readonly [string, NewRecord])[] = [
  ['headers with different names', { ...plain, headers: [header('b', '1'), header('a', '2'), header('c', '3')] }],
  ['a header name twice', { ...plain, headers: [header('a', '1'), header('b', '2'), header('a', '3')] }],
  ['an empty header value', { ...plain, headers: [header('a', '')] }],
  ['a header with every byte', { ...plain, headers: [header('a', everyByte)] }],
  [
    'header names of every kind',
    { ...plain, headers: [header('', 'empty'), header('constructor', '1'), header('ä😀', '2')] },
  ],
  ['1,000 headers', { ...plain, headers: named(1_000).map((name) => header(name, name)) }],
  ['a null key', { ...plain, key: null }],
  ['an empty key', { ...plain, key: Buffer.alloc(0) }],
  ['a key with every byte', { ...plain, key: everyByte }],
  ['a null value', { ...plain, value: null }],
  ['an empty value', { ...plain, value: Buffer.alloc(0) }],
  ['a value with every byte', { ...plain, value: everyByte }],
  ['nothing at all', { key: null, value: null, headers: [] }],
];

/** Headers by name, where that is the only order there is. */
const shapeOf = ({ subject }: Scenario) => {
  const inOrder = (headers: readonly RecordHeader[]) =>
    subject.features.has.includes('headerOrder')
      ? headers
      : headers.toSorted(([one], [other]) => Number(one > other) - Number(one < other));
  return ({ key, value, headers }: NewRecord): NewRecord => ({ key, value, headers: inOrder(headers) });
};

const roundTrip: BrokerCase[] = [
  ...SHAPES.map(([name, given]) =>
    brokerCase(`${name} comes back as it was published, by browse and by consume`, async (s) => {
      await s.broker.publish(s.topic, [given]);
      const { inbox } = await s.consume();
      await s.soon('the record was not handed out', () => inbox.done.length > 0);
      expect((await s.browse()).map(shapeOf(s))).toEqual([given].map(shapeOf(s)));
      expect(inbox.calls.map(shapeOf(s))).toEqual([given].map(shapeOf(s)));
    }),
  ),
  brokerCase('many records of 300 KiB all come back', async (s) => {
    const large = (index: number) => ({ ...plain, value: Buffer.alloc(300 * 1024, index + 1) });
    for (let index = 0; index < 20; index += 1) await s.broker.publish(s.topic, [large(index)]);
    const { inbox } = await s.consume();
    await s.soon('records were not handed out', () => inbox.done.length === 20);
    const whole = (received: ReceivedRecord, index: number) => received.value?.equals(large(index).value);
    expect((await s.browse()).map(whole)).not.toContain(false);
    expect(inbox.calls.map(whole)).not.toContain(false);
  }),
  brokerCase('the timestamp says when it was published', async (s) => {
    const before = Date.now();
    await s.publish(['a']);
    const after = Date.now();
    const [{ timestamp } = { timestamp: 0 }] = await s.browse();
    expect(timestamp).toBeGreaterThanOrEqual(before);
    expect(timestamp).toBeLessThanOrEqual(after);
  }),
];

const topics: BrokerCase[] = [
  brokerCase('publish creates a topic that is missing', async (s) => {
    expect(await s.broker.listTopics()).not.toContain(s.topic);
    await s.publish(['a']);
    expect(await s.broker.listTopics()).toContain(s.topic);
  }),
  brokerCase('consume creates topics that are missing', async (s) => {
    const other = unique('topic');
    const { inbox } = await s.consume({ topics: [s.topic, other] });
    expect(await s.broker.listTopics()).toEqual(expect.arrayContaining([s.topic, other]));
    await s.publish(['a'], other);
    await s.soon('the record was not handed out', () => inbox.done.length === 1);
  }),
  brokerCase('ensureTopics creates those that are missing and leaves the others', async (s) => {
    const other = unique('topic');
    await s.publish(['a']);
    await s.broker.ensureTopics([s.topic, other]);
    await s.broker.ensureTopics([s.topic, other]);
    const names = (await s.broker.listTopics()).filter((name) => name === s.topic || name === other);
    expect(names.sort()).toEqual([s.topic, other].sort());
    expect([texts(await s.browse()), await s.browse(other)]).toEqual([['a'], []]);
  }),
];

const browsing: BrokerCase[] = [
  brokerCase('browse of a topic that is missing gives none, and makes none', async (s) => {
    expect(await s.browse()).toEqual([]);
    expect(await s.broker.listTopics()).not.toContain(s.topic);
  }),
  brokerCase('browse gives the topic as it stood when the first record was asked for', async (s) => {
    await s.publish(named(1_200));
    const browsing = topicRecords(s.broker, s.topic)[Symbol.asyncIterator]();
    const seen = [(await s.within('no record came', browsing.next())).value];
    await s.publish(named(10, 'late'));
    for await (const received of { [Symbol.asyncIterator]: () => browsing }) seen.push(received);
    expect(texts(seen)).toEqual(named(1_200));
  }),
];

export const publishing = [...durability, ...order, ...numbered, ...roundTrip, ...topics, ...browsing];
