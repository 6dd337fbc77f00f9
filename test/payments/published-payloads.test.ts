import { createPublishedPayloads } from '../../src/delivery/record-place.js';
import { type NewRecord, NO_TIME } from '../../src/ports/broker.js';
import { NOW, paymentRecord, received } from '../support/generators/delivery-samples.js';

const PLACE = `payment-events/0/7@${NOW}`;
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
          : new Map(),
    },
    ['in', 'missing'],
    async () => kept,
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
