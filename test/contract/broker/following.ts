import {
  type FollowedPage,
  type FollowOptions,
  type Position,
  type Positions,
  type ReceivedRecord,
  TopicRecreated,
} from '../../../src/ports/broker.js';
import { type BrokerCase, brokerCase, named, type Scenario, texts } from './inbox.js';

/** A reader that follows the topic until its case ends. */
class Following {
  readonly pages: FollowedPage[] = [];
  readonly ended: Promise<void>;
  readonly #stop = new AbortController();

  constructor(s: Scenario, positions: Positions = new Map(), options: Omit<FollowOptions, 'signal'> = {}) {
    this.ended = this.#read(s, positions, options);
    this.ended.catch(() => undefined);
  }

  get records(): ReceivedRecord[] {
    return this.pages.flatMap(({ items }) => items.filter((item) => 'offset' in item));
  }

  get positions(): Map<number, Position> {
    return new Map(this.pages.map(({ partition, position }) => [partition, position]));
  }

  stop(): Promise<void> {
    this.#stop.abort();
    return this.ended;
  }

  async #read(s: Scenario, positions: Positions, options: Omit<FollowOptions, 'signal'>): Promise<void> {
    const { signal } = this.#stop;
    for await (const page of s.broker.follow(s.topic, positions, { ...options, signal })) this.pages.push(page);
  }
}

/** Reads so many records, and ends. */
async function read(s: Scenario, count: number, positions?: Positions): Promise<Following> {
  const following = new Following(s, positions);
  await s.soon('it did not read all', () => following.records.length >= count);
  await s.within('it did not end', following.stop());
  return following;
}

const other = (position: Position, change: Partial<Position & { timestamp: number }>): Position => ({
  offset: change.offset ?? position.offset,
  before: position.before && { ...position.before, timestamp: change.timestamp ?? position.before.timestamp },
});

export const following: BrokerCase[] = [
  brokerCase('follow gives every record in order, and what is published later, and ends where it aborts', async (s) => {
    await s.publish(named(600));
    const it = new Following(s);
    await s.soon('it did not read all', () => it.records.length === 600);
    await s.publish(['a', 'b']);
    await s.soon('it did not go on', () => it.records.length === 602);
    await s.publish(['c']);
    await s.soon('it did not go on', () => it.records.length === 603);
    await s.within('it did not end', it.stop());
    expect(texts(it.records)).toEqual([...named(600), 'a', 'b', 'c']);
    expect(it.pages.findLast(({ items }) => items.length > 0)?.end).toBe((it.records.at(-1)?.offset ?? 0) + 1);
  }),
  brokerCase('follow that gathers records gives every record in order, and those of later', async (s) => {
    await s.publish(['a']);
    const it = new Following(s, new Map(), { gatherMs: 50 });
    await s.soon('it did not read the first', () => it.records.length === 1);
    for (const text of ['b', 'c', 'd']) await s.publish([text]);
    await s.soon('it did not read the next', () => it.records.length === 4);
    await s.publish(['e']);
    await s.soon('it did not read the last', () => it.records.length === 5);
    await s.within('it did not end', it.stop());
    expect(texts(it.records)).toEqual(['a', 'b', 'c', 'd', 'e']);
  }),
  brokerCase('follow goes on at the positions of a reader, and gives it nothing twice', async (s) => {
    await s.publish(named(5));
    const first = await read(s, 5);
    await s.publish(['a', 'b']);
    const second = await read(s, 2, first.positions);
    expect(texts(second.records)).toEqual(['a', 'b']);
    const [{ partition, offset, timestamp } = { partition: -1, offset: 0, timestamp: 0 }] = second.records.slice(-1);
    expect(second.positions.get(partition)).toEqual({ offset: offset + 1, before: { offset, timestamp } });
  }),
  brokerCase('follow of some partitions gives those, and no other', async (s) => {
    await s.publish(named(3));
    const { records } = await read(s, 3);
    const { partition = 0 } = records[0] ?? {};
    const one = new Following(s, new Map(), { partitions: new Set([partition]) });
    await s.soon('it did not read all', () => one.records.length === 3);
    await one.stop();
    expect(new Set(one.pages.map((page) => page.partition))).toEqual(new Set([partition]));
    const none = new Following(s, new Map(), { partitions: new Set([partition + 1_000]) });
    await read(s, 3);
    await none.stop();
    expect(none.records).toEqual([]);
  }),
  brokerCase('where another record is before the position, or the topic is shorter, it was recreated', async (s) => {
    await s.publish(named(3));
    const { positions } = await read(s, 3);
    const [partition, position] = [...positions].find(([, { before }]) => before) ?? [0, { offset: 0, before: null }];
    for (const change of [{ timestamp: 7 }, { offset: position.offset + 1 }]) {
      const wrong = new Following(s, new Map([[partition, other(position, change)]]));
      const error = await s.within('it did not end', wrong.ended).then(
        () => null,
        (failure: unknown) => failure,
      );
      expect(error).toBeInstanceOf(TopicRecreated);
      expect(wrong.records).toEqual([]);
    }
  }),
  brokerCase(
    'follow gives an unreadable batch in its place, and goes on behind it',
    async (s) => {
      await s.publish(['a']);
      await s.within('it could not be damaged', s.subject.poison(s.topic));
      await s.publish(['b']);
      const { pages, positions } = await read(s, 2);
      const items = pages.flatMap((page) => page.items);
      expect(items.map((item) => ('digest' in item ? item.digest : String(item.value)))).toEqual([
        'a',
        expect.stringMatching(/^[0-9a-f]{32}$/),
        'b',
      ]);
      await s.publish(['c']);
      expect(texts((await read(s, 1, positions)).records)).toEqual(['c']);
    },
    'poison',
  ),
  brokerCase('follow after close rejects with BrokerUnavailable, and close ends one that follows', async (s) => {
    await s.publish(['a']);
    const it = new Following(s);
    await s.soon('it did not read', () => it.records.length === 1);
    await s.within('close did not end', s.broker.close());
    await expect(s.within('it did not end', it.ended)).rejects.toMatchObject({ name: 'BrokerUnavailable' });
    await expect(new Following(s).ended).rejects.toMatchObject({ name: 'BrokerUnavailable' });
  }),
];
