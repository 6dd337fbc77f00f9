import fc from 'fast-check';
import { oldestFirst } from '../../src/cli/dead-letters.js';
import type { ReceivedRecord } from '../../src/ports/broker.js';

/** The timestamps of each partition, in the order of its offsets. */
const TOPIC = fc.array(fc.array(fc.integer({ min: 0, max: 30 }), { maxLength: 20 }), { maxLength: 5 });

type Read = readonly { readonly timestamp: number; readonly partition: number; readonly offset: number }[];

/** How the records are given, and how many partitions were let go. */
async function read(topic: readonly (readonly number[])[], count = Number.POSITIVE_INFINITY) {
  let ended = 0;
  async function* records(times: readonly number[], partition: number) {
    try {
      for (const [offset, timestamp] of times.entries()) yield { timestamp, partition, offset } as ReceivedRecord;
    } finally {
      ended += 1;
    }
  }
  const found: ReceivedRecord[] = [];
  for await (const record of oldestFirst(topic.map(records))) {
    found.push(record);
    if (found.length >= count) break;
  }
  return { found: found as Read, ended };
}

test('gives every record once, those of a partition in the order of their offsets', async () => {
  await fc.assert(
    fc.asyncProperty(TOPIC, async (topic) => {
      const { found } = await read(topic);
      for (const [partition, times] of topic.entries())
        expect(found.filter((one) => one.partition === partition)).toEqual(
          times.map((timestamp, offset) => ({ timestamp, partition, offset })),
        );
      expect(found).toHaveLength(topic.flat().length);
    }),
  );
});

test('gives them by time, then by partition, where no clock was set back', async () => {
  const key = ({ timestamp, partition }: Read[number]) => timestamp * 10 + partition;
  await fc.assert(
    fc.asyncProperty(TOPIC, async (topic) => {
      const { found } = await read(topic.map((times) => times.toSorted((one, other) => one - other)));
      expect(found).toEqual(found.toSorted((one, other) => key(one) - key(other)));
    }),
  );
});

test('lets each partition go where its reader stops early', async () => {
  expect(await read([[1, 5], [2, 3], [4]], 3)).toMatchObject({ found: [{}, {}, {}], ended: 3 });
});
