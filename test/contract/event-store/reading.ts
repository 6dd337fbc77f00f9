import { MAX_EVENT_BYTES, MAX_NESTING, type NewEvent, NO_OBJECT, NO_STREAM } from '../../../src/ports/event-store.js';
import { collect } from '../contract.js';
import { event, numbers, type StoreCase, storeCase, upTo } from './follower.js';

export const reading: StoreCase[] = [
  storeCase('read gives the events from a revision on, in order', async (s) => {
    await s.append(10);
    expect(numbers(await s.read(s.stream(), 4))).toEqual([4, 5, 6, 7, 8, 9]);
    expect(numbers(await s.read(s.stream(), 9))).toEqual([9]);
    expect(numbers(await s.read(s.stream(), 0))).toEqual(upTo(10));
  }),
  storeCase('a stream that was never written is empty', async (s) => {
    expect(await s.read()).toEqual([]);
    expect(await s.read(s.stream(), 5)).toEqual([]);
  }),
  storeCase('read gives all that was stored when its first event was asked for, and then ends', async (s) => {
    await s.append(1_500);
    const reading = s.store.read(s.stream())[Symbol.asyncIterator]();
    expect((await s.within('no event came', reading.next())).value).toMatchObject({ revision: 0 });
    await s.append(10, 1_499);
    const rest = await collect({ [Symbol.asyncIterator]: () => reading });
    const read = numbers(rest);
    expect(read.length).toBeGreaterThanOrEqual(1_499);
    expect(read).toEqual(upTo(1_510).slice(1, read.length + 1));
  }),
  storeCase('read of some types gives only events of these types, from a revision on', async (s) => {
    const types = Array.from({ length: 60 }, (_, n) => ['A', 'B', 'C'][n % 3] ?? '');
    await s.store.append(
      s.stream(),
      types.map((type) => ({ ...event(), type })),
      NO_STREAM,
    );
    const revisions = async (...args: [from: number, types: string[]]) =>
      (await collect(s.store.read(s.stream(), ...args))).map(({ revision, type }) => `${revision} ${type}`);
    const all = types.map((type, revision) => `${revision} ${type}`);
    expect(await revisions(0, ['B'])).toEqual(all.filter((one) => one.endsWith('B')));
    expect(await revisions(30, ['A', 'C'])).toEqual(all.slice(30).filter((one) => !one.endsWith('B')));
    expect(await revisions(0, ['D'])).toEqual([]);
  }),
  storeCase('endsWith tells whether the event is the last one of its stream', async (s) => {
    await s.append(3);
    const [first, , last] = await s.read();
    const endsWith = (revision: number, id = '') => s.store.endsWith(s.stream(), revision, id);
    expect(await endsWith(2, last?.id)).toBe(true);
    expect(await endsWith(0, first?.id)).toBe(false);
    expect(await endsWith(2, first?.id)).toBe(false);
    expect(await endsWith(1, last?.id)).toBe(false);
    expect(await endsWith(3, last?.id)).toBe(false);
    expect(await s.store.endsWith(s.stream('0'), 0, first?.id ?? '')).toBe(false);
    await s.append(1, 2);
    expect(await endsWith(2, last?.id)).toBe(false);
  }),
  storeCase('data and metadata that are no object are NO_OBJECT, by read and by subscribe', async (s) => {
    const junk: unknown[] = [null, 'text', 7, true, []];
    const events = junk.map((value) => event(value as NewEvent['data'], value as NewEvent['metadata']));
    await s.store.append(s.stream(), events, NO_STREAM);
    for (const found of [await s.read(), (await s.caughtUp()).events]) {
      expect(found.map(({ data, metadata }) => [data, metadata])).toEqual(junk.map(() => [NO_OBJECT, NO_OBJECT]));
      expect(found.every(({ data }) => data === NO_OBJECT)).toBe(true);
    }
  }),
  storeCase(
    'data and metadata that are too long or nested too deeply are NO_OBJECT, by read and by subscribe',
    async (s) => {
      const nested = (levels: number) => JSON.parse(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`);
      const allowed = [{ a: 'x'.repeat(MAX_EVENT_BYTES - 8) }, nested(MAX_NESTING)];
      const many = { a: Array(MAX_EVENT_BYTES).fill(1) };
      const beyond = [{ a: 'x'.repeat(MAX_EVENT_BYTES + 1) }, many, nested(MAX_NESTING + 1), nested(2_000)];
      const events = [...allowed, ...beyond].flatMap((value) => [event(value, {}), event({}, value)]);
      for (const [index, one] of events.entries()) await s.store.append(s.stream(), [one], index - 1);
      const expected = [...allowed, ...beyond.map(() => NO_OBJECT)].flatMap((value) => [value, {}, {}, value]);
      for (const found of [await s.read(), (await s.caughtUp()).events]) {
        expect(found.flatMap(({ data, metadata }) => [data, metadata])).toEqual(expected);
        expect(found.filter(({ data }) => data === NO_OBJECT)).toHaveLength(beyond.length);
      }
    },
  ),
];
