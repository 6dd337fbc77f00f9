import { expect } from '@jest/globals';
import type { UnreadableBatch } from '../../../src/ports/broker.js';
import { type BrokerCase, brokerCase, named, record, type Scenario, texts } from './inbox.js';

/** Asked about, and what is answered. */
class Asked {
  readonly batches: UnreadableBatch[] = [];
  readonly gone: AbortSignal[] = [];

  constructor(readonly answer: (call: number) => Promise<void> = async () => undefined) {}

  readonly onUnreadable = (batch: UnreadableBatch, gone: AbortSignal): Promise<void> => {
    this.batches.push(batch);
    this.gone.push(gone);
    return this.answer(this.batches.length);
  };
}

/** Two records, what can't be read, and two more, all of one partition. */
async function damaged(s: Scenario): Promise<void> {
  await s.publish(['a', 'b']);
  await s.within('it could not be damaged', s.subject.poison(s.topic));
  await s.publish(['c', 'd']);
}

const unreadableCase = (name: string, act: (s: Scenario) => Promise<void>) => brokerCase(name, act, 'poison');

export const unreadable: BrokerCase[] = [
  unreadableCase('behind what can not be read nothing is begun until its promise is fulfilled', async (s) => {
    await damaged(s);
    const gate = s.gate();
    const asked = new Asked(() => gate.opened);
    const { inbox, consumer } = await s.consume({ onUnreadable: asked.onUnreadable });
    await s.soon('it was not asked about', () => asked.batches.length === 1 && inbox.done.length === 2);
    const other = `${s.topic}-other`;
    await s.publish(named(20), other);
    await s.witness(20, { topics: [other] });
    expect(texts(inbox.calls)).toEqual(['a', 'b']);
    const stopped = () => consumer.state().partitions.flatMap((partition) => partition.unreadable ?? []);
    await s.soon('it is not told of', () => stopped().length === 1);
    expect(stopped()).toEqual(asked.batches.slice(0, 1));
    gate.open();
    await s.soon('it did not go on', () => inbox.done.length === 4);
    expect(texts(inbox.calls)).toEqual(['a', 'b', 'c', 'd']);
    // Who joins his group again asks again.
    if (!s.subject.features.rebalances) expect(asked.batches).toHaveLength(1);
    expect(stopped()).toEqual([]);
  }),
  unreadableCase('what can not be read is told with its place, its codec, why, and a digest', async (s) => {
    await damaged(s);
    const asked = new Asked();
    const { inbox } = await s.consume({ onUnreadable: asked.onUnreadable });
    await s.soon('it did not go on', () => inbox.done.length === 4);
    const [{ partition, offset } = { partition: -1, offset: -1 }] = inbox.done.slice(1);
    const place = { topic: s.topic, partition, first: offset + 1, last: offset + 1 };
    const [batch] = asked.batches;
    expect(batch).toEqual({
      ...place,
      codec: expect.any(String),
      reason: expect.any(String),
      digest: expect.any(String),
    });
    expect(batch?.digest).toMatch(/^[0-9a-f]{32}$/);
    expect(inbox.done[2]?.offset).toBe(offset + 2);
  }),
  unreadableCase('where its promise is rejected it is asked about again, and others go on', async (s) => {
    await damaged(s);
    let broken = true;
    const asked = new Asked(async () => {
      if (broken) throw new Error('not now');
    });
    const other = `${s.topic}-other`;
    await s.publish(named(5), other);
    const { inbox } = await s.consume({ topics: [s.topic, other], onUnreadable: asked.onUnreadable });
    await s.soon('it was not asked about again', () => asked.batches.length >= 3);
    await s.soon('others did not go on', () => inbox.done.length === 7);
    broken = false;
    await s.soon('it did not go on', () => inbox.done.length === 9);
  }),
  unreadableCase('what was passed is done: a group goes on behind it', async (s) => {
    await damaged(s);
    const first = await s.consume({ onUnreadable: new Asked().onUnreadable });
    await s.soon('it did not go on', () => first.inbox.done.length === 4);
    await s.within('close did not end', first.consumer.close());
    await s.publish(['e']);
    const asked = new Asked();
    const second = await s.consume({ onUnreadable: asked.onUnreadable });
    await s.soon('the next record was not handed out', () => second.inbox.done.length === 1);
    expect(texts(second.inbox.calls)).toEqual(['e']);
    expect(asked.batches).toEqual([]);
  }),
  unreadableCase('close ends while it is asked about, which is told so, and the next one is asked again', async (s) => {
    await damaged(s);
    const gate = s.gate();
    const asked = new Asked(() => gate.opened);
    const { consumer } = await s.consume({ onUnreadable: asked.onUnreadable });
    await s.soon('it was not asked about', () => asked.batches.length === 1);
    await s.within('close did not end', consumer.close());
    expect(asked.gone[0]?.aborted).toBe(true);
    gate.open();
    const next = new Asked();
    const { inbox } = await s.consume({ onUnreadable: next.onUnreadable });
    await s.soon('the next one was not asked', () => next.batches.length === 1);
    await s.soon('it did not go on', () => inbox.done.length >= 2);
    expect(texts(inbox.done).slice(-2)).toEqual(['c', 'd']);
    expect(next.batches).toEqual(asked.batches);
  }),
  unreadableCase('without somebody to ask the partition stands there', async (s) => {
    await damaged(s);
    const { inbox, consumer } = await s.consume();
    const stands = () => consumer.state().partitions.some((partition) => partition.unreadable !== null);
    await s.soon('it does not stand', () => inbox.done.length === 2 && stands());
    const other = `${s.topic}-other`;
    await s.publish(named(20), other);
    await s.witness(20, { topics: [other] });
    expect(texts(inbox.calls)).toEqual(['a', 'b']);
  }),
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
