import type { UnreadableBatch } from '../../../src/ports/broker.js';
import { type BrokerCase, brokerCase, named, placeOf, type Scenario, texts } from './inbox.js';

/** Two records, what can't be read, and two more, all of one partition. */
async function damaged(s: Scenario): Promise<void> {
  await s.publish(['a', 'b']);
  await s.within('it could not be damaged', s.subject.poison(s.topic));
  await s.publish(['c', 'd']);
}

const unreadableCase = (name: string, act: (s: Scenario) => Promise<void>) => brokerCase(name, act, 'poison');

export const unreadable: BrokerCase[] = [
  unreadableCase(
    'an unreadable batch is handed out with its place, codec, reason and digest, and the records behind it go on',
    async (s) => {
      await damaged(s);
      const batches: UnreadableBatch[] = [];
      const gate = s.gate();
      const onUnreadable = (batch: UnreadableBatch) => {
        batches.push(batch);
        return gate.opened;
      };
      const { inbox } = await s.consume({ onUnreadable });
      await s.soon('the records behind it were not handed out', () => inbox.done.length === 4);
      await s.soon('it was not handed out', () => batches.length > 0);
      expect(texts(inbox.firstCalls)).toEqual(['a', 'b', 'c', 'd']);
      const [{ partition, offset } = { partition: -1, offset: -1 }] = inbox.done.slice(1);
      expect(batches[0]).toEqual({
        ...{ topic: s.topic, partition, first: offset + 1, last: offset + 1 },
        codec: expect.any(String),
        reason: expect.any(String),
        digest: expect.stringMatching(/^[0-9a-f]{32}$/),
      });
      expect(inbox.done[2]?.offset).toBe(offset + 2);
    },
  ),
  unreadableCase('a batch whose promise was rejected is handed out again, and is not committed before', async (s) => {
    await damaged(s);
    let calls = 0;
    let isBroken = true;
    const onUnreadable = async () => {
      calls += 1;
      if (isBroken) throw new Error('not now');
    };
    const { inbox, consumer } = await s.consume({ onUnreadable });
    await s.soon('it was not handed out again', () => calls >= 3 && inbox.done.length === 4);
    await s.within('close did not end', consumer.close());
    const { partition = 0, offset = 0 } = inbox.done[1] ?? {};
    expect((await s.broker.committed(s.group, s.topic)).get(partition)).toBe(offset + 1);
    isBroken = false;
    calls = 0;
    const next = await s.consume({ onUnreadable });
    await s.soon('it was not handed out to the next one', () => calls === 1);
    const committed = async () => (await s.broker.committed(s.group, s.topic)).get(partition);
    await s.soon('it was not committed', async () => (await committed()) === offset + 4);
    await s.within('close did not end', next.consumer.close());
  }),
  brokerCase(
    'after 20 unreadable batches in a row a partition pauses and reports it; another one continues',
    async (s) => {
      await s.publish(['a']);
      // More than 20: a group that is rebalanced, on a busy machine, begins again to count.
      for (let n = 0; n < 30; n += 1) await s.within('it could not be damaged', s.subject.poison(s.topic));
      await s.publish(['b']);
      const other = `${s.topic}-other`;
      await s.publish(named(20), other);
      const batches: UnreadableBatch[] = [];
      const onUnreadable = async (batch: UnreadableBatch) => void batches.push(batch);
      const { inbox, consumer } = await s.consume({ topics: [s.topic, other], onUnreadable });
      const paused = () => consumer.state().partitions.flatMap(({ unreadable: at }) => at ?? []);
      const done = () => new Set(inbox.done.map(placeOf)).size;
      // Each is unpacked up to its limit, twice: on a busy machine 20 take minutes.
      for (let count = 1; count <= 20; count += 1)
        await s.soon(`batch ${count} was not handed out`, () => batches.length >= count);
      await s.soon('it does not pause', () => paused().length === 1 && done() === 21);
      // Exactly 20: record-lane.test.ts. Here one more each minute.
      expect(batches.length).toBeGreaterThanOrEqual(20);
      expect(batches.length).toBeLessThan(30);
      expect(paused()[0]?.offset).toBe((batches.at(-1)?.last ?? 0) + 1);
      await s.publish(named(20), other);
      await s.soon('the other did not continue', () => done() === 41);
      expect(paused()).toHaveLength(1);
    },
    'muchPoison',
  ),
];

export const extents: BrokerCase[] = [
  brokerCase('extent tells where a topic begins and ends, of partitions that hold nothing too', async (s) => {
    expect(await s.broker.extent(s.topic)).toEqual(new Map());
    await s.broker.ensureTopics([s.topic]);
    const empty = await s.broker.extent(s.topic);
    expect(empty.size).toBeGreaterThan(0);
    expect([...empty.values()].every(({ first, next }) => first === 0 && next === 0)).toBe(true);
    await s.publish(named(5));
    const [{ partition } = { partition: -1 }] = await s.browse();
    expect(await s.broker.extent(s.topic)).toEqual(new Map(empty).set(partition, { first: 0, next: 5 }));
  }),
];
