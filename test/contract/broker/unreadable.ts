import { expect } from '@jest/globals';
import type { UnreadableBatch } from '../../../src/ports/broker.js';
import { type BrokerCase, brokerCase, named, record, type Scenario, texts } from './inbox.js';

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
    await s.within('close did not end', next.consumer.close());
    expect((await s.broker.committed(s.group, s.topic)).get(partition)).toBe(offset + 4);
  }),
  unreadableCase('without onUnreadable the batch is done', async (s) => {
    await damaged(s);
    const { inbox } = await s.consume();
    await s.soon('it did not go on', () => inbox.done.length === 4);
  }),
  unreadableCase(
    'after 20 unreadable batches in a row a partition pauses, and says so; another one does not',
    async (s) => {
      await s.publish(['a']);
      for (let n = 0; n < 22; n += 1) await s.within('it could not be damaged', s.subject.poison(s.topic));
      await s.publish(['b']);
      const other = `${s.topic}-other`;
      await s.publish(named(20), other);
      const batches: UnreadableBatch[] = [];
      const onUnreadable = async (batch: UnreadableBatch) => void batches.push(batch);
      const { inbox, consumer } = await s.consume({ topics: [s.topic, other], onUnreadable });
      const paused = () => consumer.state().partitions.flatMap(({ unreadable: batch }) => batch ?? []);
      await s.soon('it does not pause', () => paused().length === 1 && inbox.done.length === 21);
      expect(batches).toHaveLength(20);
      expect(paused()[0]?.first).toBe((batches.at(-1)?.last ?? 0) + 1);
      await s.publish(named(20), other);
      await s.soon('the other did not go on', () => inbox.done.length === 41);
      expect(batches).toHaveLength(20);
    },
  ),
  unreadableCase('browse steps over what can not be read, and tells of it', async (s) => {
    await damaged(s);
    const told: UnreadableBatch[] = [];
    const read: string[] = [];
    for await (const one of s.broker.browse(s.topic, { onUnreadable: (batch) => told.push(batch) })) {
      read.push(String(one.value));
      if (read.length === 3) expect(told).toHaveLength(1);
    }
    expect(read).toEqual(['a', 'b', 'c', 'd']);
    expect(told).toHaveLength(1);
  }),
];

export const browsing: BrokerCase[] = [
  brokerCase('browse of a range gives that of its partition, and no other', async (s) => {
    await s.publish(named(10));
    const [third] = (await s.browse()).slice(3);
    const { partition = 0, offset = 0 } = third ?? {};
    const ranges = new Map([[partition, { from: offset, to: offset + 4 }]]);
    const read: string[] = [];
    for await (const one of s.broker.browse(s.topic, { ranges })) read.push(String(one.value));
    expect(read).toEqual(named(10).slice(3, 7));
    for await (const one of s.broker.browse(s.topic, { ranges: new Map() })) read.push(String(one.value));
    expect(read).toHaveLength(4);
  }),
  brokerCase(
    'browse that follows gives what is published later, and ends without an error when it aborts',
    async (s) => {
      await s.publish(['a']);
      const following = new AbortController();
      const read: string[] = [];
      const reading = (async () => {
        for await (const one of s.broker.browse(s.topic, { follow: following.signal })) read.push(String(one.value));
      })();
      await s.soon('it did not begin', () => read.length === 1);
      await s.publish(['b', 'c']);
      await s.soon('it did not go on', () => read.length === 3);
      await s.broker.publish(s.topic, [record('d')]);
      await s.soon('it did not go on', () => read.length === 4);
      following.abort();
      await s.within('it did not end', reading);
      expect(read).toEqual(['a', 'b', 'c', 'd']);
    },
  ),
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
  brokerCase('committed tells where a group stands', async (s) => {
    await s.publish(named(5));
    expect(await s.broker.committed(s.group, `${s.topic}-missing`)).toEqual(new Map());
    const { inbox, consumer } = await s.consume();
    await s.soon('records were not handed out', () => inbox.done.length === 5);
    await s.within('close did not end', consumer.close());
    const { partition = 0, offset = 0 } = inbox.done.at(-1) ?? {};
    expect((await s.broker.committed(s.group, s.topic)).get(partition)).toBe(offset + 1);
  }),
];
