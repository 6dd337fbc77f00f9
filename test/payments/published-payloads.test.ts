import { createPublishedPayloads } from '../../src/delivery/record-place.js';
import { BrokerUnavailable, type NewRecord, NO_TIME } from '../../src/ports/broker.js';
import { NOW, paymentRecord, received } from '../support/generators/delivery-samples.js';

const PLACE = `payment-events/0/7@${NOW}`;
const skipped: string[] = [];
beforeEach(() => void skipped.splice(0));
const payloadsOf = (record: NewRecord | null, kept: number | null = 1_000) =>
  createPublishedPayloads(
    {
      read: async (topic, partition, offset) =>
        record && received(record, { topic, partition, offset, timestamp: NOW }),
      extent: async (topic) =>
        topic === 'in'
          ? new Map([
              [0, { first: 7, next: 9 }],
              [3, { first: 5, next: 5 }],
            ])
          : new Map(topic === 'missing' ? [] : [[0, { first: 0, next: 9 }]]),
      listTopics: async () => ['payment-events', 'former'],
    },
    { topics: ['in', 'missing'], keptMs: async () => kept, impossible: ({ topic }) => void skipped.push(topic) },
  );

describe('the record of a payment', () => {
  test('is as it was published', async () => {
    expect(await payloadsOf(paymentRecord()).record(PLACE)).toMatchObject(paymentRecord());
  });

  test.each([
    ['the topic has lost it', payloadsOf(null), PLACE],
    ['a recreated topic has another record there', payloadsOf(paymentRecord()), `payment-events/0/7@${NOW - 1}`],
    ['its place is no place', payloadsOf(paymentRecord()), 'nowhere'],
  ])('is null where %s', async (_, payloads, place) => {
    expect(await payloads.record(place)).toBeNull();
  });

  test('is read from a topic that is not a payment topic any more', async () => {
    expect(await payloadsOf(paymentRecord()).record(`former/0/7@${NOW}`)).toMatchObject(paymentRecord());
    expect(skipped).toEqual([]);
  });

  test.each([
    ['a topic that does not exist', 'forged/0/7'],
    ['a topic that cannot exist', `${'no such topic! '.repeat(100)}/0/7`],
    ['a partition that does not exist', 'payment-events/1/7'],
    ['a partition that a payment topic lacks', 'in/1/7'],
    ['a payment topic that nobody has made', 'missing/0/7'],
    ['a partition that cannot exist', 'in/99999999999/7'],
    ['an offset that cannot exist', `in/0/${'9'.repeat(400)}`],
  ])('is not read but counted if its place names %s', async (_, place) => {
    expect(await payloadsOf(paymentRecord()).record(`${place}@${NOW}`)).toBeNull();
    expect(await payloadsOf(paymentRecord()).keptUntil(`forged/0/7@${NOW}`)).toBeNull();
    expect(skipped).toHaveLength(1);
  });

  test('is kept for as long as the topic keeps its records', async () => {
    expect(await payloadsOf(null).keptUntil(PLACE)).toBe(NOW + 1_000);
  });

  test.each([
    ['the topic has no limit', payloadsOf(null, null), PLACE],
    ['its producer gave it no time', payloadsOf(null), `payment-events/0/7@${NO_TIME}`],
    ['its place is no place', payloadsOf(null), 'nowhere'],
  ])('is kept until nobody knows when, where %s', async (_, payloads, place) => {
    expect(await payloads.keptUntil(place)).toBeNull();
  });
});

test('the first offsets that payment topics have are told by partition', async () => {
  expect(await payloadsOf(null).firstKept()).toEqual({ 'in/0/': 7, 'in/3/': 5 });
});

test('a record is read from a broker that does not tell its partitions', async () => {
  const unavailable = async () => Promise.reject(new BrokerUnavailable('away'));
  const read = async () => received(paymentRecord(), { topic: 'in', partition: 0, offset: 7, timestamp: NOW });
  const payloads = createPublishedPayloads(
    { read, extent: unavailable, listTopics: unavailable },
    { topics: ['in'], keptMs: async () => null, impossible: ({ topic }) => void skipped.push(topic) },
  );
  expect(await payloads.record(`in/0/7@${NOW}`)).toMatchObject(paymentRecord());
  expect(skipped).toEqual([]);
});
