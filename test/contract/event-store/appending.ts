import fc from 'fast-check';
import { type NewEvent, NO_STREAM, WrongExpectedRevision } from '../../../src/ports/event-store.js';
import { collect, errorOf } from '../contract.js';
import { event, events, ids, numbers, type Scenario, type StoreCase, storeCase, upTo } from './follower.js';

const atomicity: StoreCase[] = [
  storeCase('append stores its events in order, revisions counted from 0 over all appends', async (s) => {
    await s.append(3);
    await s.append(2, 2);
    const recorded = await s.read();
    expect(numbers(recorded)).toEqual(upTo(5));
    expect(recorded.map(({ revision }) => revision)).toEqual(upTo(5));
    expect(new Set(recorded.map(({ stream }) => stream))).toEqual(new Set([s.stream()]));
  }),
  storeCase('append gives back the revision and the position of its last event', async (s) => {
    const first = await s.append(3);
    const second = await s.append(1, 2);
    const recorded = await s.read();
    expect([first.revision, second.revision]).toEqual([2, 3]);
    expect([recorded[2]?.position, recorded[3]?.position]).toEqual([first.position, second.position]);
  }),
  storeCase('append that is rejected stores none of its events', async (s) => {
    const unsayable = event({ number: 10n as unknown as number });
    await errorOf(s.subject, () => s.store.append(s.stream(), [event(), unsayable, event()], NO_STREAM));
    expect(await s.read()).toEqual([]);
  }),
  storeCase('append is atomic: a reader sees all of its events or none', async (s) => {
    const seen = new Set<number>();
    let isOver = false;
    const appends = upTo(20).map((n) => s.append(25, NO_STREAM, s.stream(`-${n}`)));
    void Promise.allSettled(appends).then(() => {
      isOver = true;
    });
    await s.soon('the appends did not end', async () => {
      const all = isOver;
      for (const n of upTo(20)) seen.add((await s.read(s.stream(`-${n}`))).length);
      return all;
    });
    await Promise.all(appends);
    expect([...seen].filter((length) => length !== 0)).toEqual([25]);
  }),
  storeCase('what append resolved for is there when the store is opened again', async (s) => {
    const { position } = await s.append(3);
    await s.subject.reopen();
    const recorded = await s.read();
    expect(numbers(recorded)).toEqual(upTo(3));
    expect(recorded.at(-1)?.position).toBe(position);
  }),
  storeCase('what append resolved for is seen by another process at once', async (s) => {
    const other = await s.subject.another();
    await s.append(3);
    expect(numbers(await collect(other.read(s.stream())))).toEqual(upTo(3));
  }),
];

/** Appends where the stream does not stand, and sees that it is told so and nothing is stored. */
async function expectRefused(s: Scenario, newEvents: NewEvent[], expected: number, actual: number): Promise<void> {
  const before = await s.read();
  const error = await errorOf(s.subject, () => s.store.append(s.stream(), newEvents, expected));
  expect(error).toBeInstanceOf(WrongExpectedRevision);
  expect(error).toMatchObject({ code: 'WRONG_EXPECTED_REVISION', stream: s.stream(), expected, actual });
  expect(await s.read()).toEqual(before);
}

const refused = (where: string, stored: number, expected: number) =>
  storeCase(`append expecting ${where} rejects with WrongExpectedRevision and stores nothing`, async (s) => {
    if (stored > 0) await s.append(stored);
    await expectRefused(s, events(2), expected, stored - 1);
  });

const expectedRevision: StoreCase[] = [
  refused('no stream where there is one', 3, NO_STREAM),
  refused('an earlier revision', 3, 1),
  refused('a later revision', 3, 3),
  refused('a revision of a stream that was never written', 0, 0),
  storeCase('of appends at once with one expected revision exactly one is stored', async (s) => {
    await s.append(1);
    const rivals = upTo(10).map(() => events(2));
    const outcomes = await Promise.allSettled(rivals.map((rival) => s.store.append(s.stream(), rival, 0)));
    await expectOneWinner(s, rivals, outcomes);
  }),
  storeCase('of appends by two processes with one expected revision exactly one is stored', async (s) => {
    const other = await s.subject.another();
    const rivals = upTo(10).map(() => events(2));
    const stores = rivals.map((_, index) => (index % 2 ? other : s.store));
    const outcomes = await Promise.allSettled(
      rivals.map((rival, index) => stores[index]?.append(s.stream(), rival, NO_STREAM)),
    );
    await expectOneWinner(s, rivals, outcomes);
  }),
];

async function expectOneWinner(
  s: Scenario,
  rivals: readonly NewEvent[][],
  outcomes: readonly PromiseSettledResult<unknown>[],
): Promise<void> {
  const winners = rivals.filter((_, index) => outcomes[index]?.status === 'fulfilled');
  const losses = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
  expect(winners).toHaveLength(1);
  for (const loss of losses) expect(loss).toBeInstanceOf(WrongExpectedRevision);
  expect(ids((await s.read()).slice(-2))).toEqual(ids(winners[0] ?? []));
}

const idempotence: StoreCase[] = [
  storeCase('append repeated with the same ids gives back the first result and stores nothing more', async (s) => {
    const repeated = events(3);
    const first = await s.store.append(s.stream(), repeated, NO_STREAM);
    expect(await s.store.append(s.stream(), repeated, NO_STREAM)).toEqual(first);
    expect(await s.read()).toHaveLength(3);
  }),
  storeCase('an append that others have followed is repeated with its first result too', async (s) => {
    const repeated = events(2, 3);
    await s.append(3);
    const first = await s.store.append(s.stream(), repeated, 2);
    await s.append(3, 4);
    expect(await s.store.append(s.stream(), repeated, 2)).toEqual(first);
    expect(await s.read()).toHaveLength(8);
  }),
  storeCase('the same append twice at once is stored once, and both have its result', async (s) => {
    const repeated = events(3);
    const append = () => s.store.append(s.stream(), repeated, NO_STREAM);
    const [first, second] = await Promise.all([append(), append()]);
    expect(second).toEqual(first);
    expect(await s.read()).toHaveLength(3);
  }),
  storeCase('an append that shares only its first ids with what is stored is no repetition', async (s) => {
    const [first, second] = [event(), event()];
    await s.store.append(s.stream(), [first, second], NO_STREAM);
    await expectRefused(s, [first, event()], NO_STREAM, 1);
    await expectRefused(s, [first, second, event()], NO_STREAM, 1);
  }),
];

const sameAsJson = (value: unknown) => JSON.parse(JSON.stringify(value));

const roundTrip: StoreCase[] = [
  storeCase('data and metadata come back as they were given, whatever JSON can say', async (s) => {
    const json = fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue({ stringUnit: 'grapheme' }));
    let count = 0;
    const check = async (data: NewEvent['data'], metadata: NewEvent['metadata']) => {
      const stream = s.stream(`-${count++}`);
      await s.store.append(stream, [event(data, metadata)], NO_STREAM);
      expect(sameAsJson(await s.read(stream))).toMatchObject([sameAsJson({ data, metadata })]);
    };
    await fc.assert(fc.asyncProperty(json, json, check), { numRuns: 50 });
  }),
  storeCase('large numbers, deep nesting, every plane of unicode and large texts come back', async (s) => {
    let deep: unknown = 'bottom';
    for (const _ of upTo(200)) deep = { deep, list: [null, true] };
    const data = {
      numbers: [Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, 1.7976931348623157e308, 5e-324, 0.1, -1.5e-10],
      text: '\u0000\u0001\u001f"\\/\u2028\u2029\ufeffäß漢字😀\u{10FFFF}',
      deep,
      large: 'x'.repeat(256 * 1024),
      '': { $with: 'names of every kind' },
    };
    await s.store.append(s.stream(), [event(data, data)], NO_STREAM);
    expect(await s.read()).toMatchObject([{ data, metadata: data }]);
  }),
];

export const appending = [...atomicity, ...expectedRevision, ...idempotence, ...roundTrip];
