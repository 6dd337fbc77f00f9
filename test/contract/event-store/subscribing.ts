import { NO_STREAM, OtherHistory } from '../../../src/ports/event-store.js';
import { inFull } from '../../runner/thorough.js';
import { events, Follower, numbers, type Scenario, type StoreCase, storeCase, upTo } from './follower.js';

const LONG = inFull(5_000, 2_000);
export const CATCHES_UP = `${LONG.toLocaleString('en-US')} events, and those appended meanwhile, come exactly once and in order`;
const MEANWHILE = inFull(100, 50);
/** Of so many events: several batches. */
const BATCHES = inFull(2_500, 1_500);

/** Two streams of 3 events each, by turns. */
async function twoStreams(s: Scenario): Promise<[string, string]> {
  const [one, two] = [s.stream('-1'), s.stream('-2')];
  for (const n of upTo(3)) {
    await s.append(1, n - 1, one);
    await s.append(1, n - 1, two);
  }
  return [one, two];
}

const whatComes: StoreCase[] = [
  storeCase('subscribe gives the events of all streams with the prefix once each, as they were appended', async (s) => {
    const [one, two] = await twoStreams(s);
    const { events } = await s.caughtUp();
    expect(events.map(({ stream }) => stream)).toEqual([one, two, one, two, one, two]);
    expect(numbers(events)).toEqual([0, 0, 1, 1, 2, 2]);
  }),
  storeCase('subscribe gives no event of a stream that does not begin with the prefix', async (s) => {
    await s.append(1, NO_STREAM, `x${s.prefix}`);
    await s.append(1, NO_STREAM, s.prefix.slice(0, -1));
    await s.append(1, NO_STREAM, s.prefix.toUpperCase());
    await s.append(1, NO_STREAM, s.stream('-a%'));
    await s.append(1, NO_STREAM, s.stream('-ab'));
    await s.append(1, NO_STREAM, s.stream('-a_'));
    expect(streams(await s.caughtUp())).toEqual([s.stream('-a%'), s.stream('-ab'), s.stream('-a_')]);
    expect(streams(await s.caughtUp({ streamPrefix: s.stream('-a%') }))).toEqual([s.stream('-a%')]);
    expect(streams(await s.caughtUp({ streamPrefix: s.stream('-a_') }))).toEqual([s.stream('-a_')]);
  }),
  storeCase('subscribe after a position gives what comes after it, also from within an append', async (s) => {
    await s.append(5);
    const recorded = await s.read();
    for (const { position, revision } of recorded) {
      const { events } = await s.caughtUp({ after: position });
      expect(numbers(events)).toEqual(upTo(5).slice(revision + 1));
    }
  }),
  storeCase('a subscription goes on with what is appended later', async (s) => {
    await s.append(2);
    const follower = await s.caughtUp();
    await s.append(2, 1);
    await s.append(1, NO_STREAM, s.stream('-new'));
    await s.soon('what was appended later did not come', () => follower.events.length >= 5);
    expect(numbers(follower.events)).toEqual([0, 1, 2, 3, 0]);
  }),
  storeCase('a subscription gives what other processes append', async (s) => {
    const follower = await s.caughtUp();
    const other = await s.subject.another();
    await other.append(s.stream(), events(3), NO_STREAM);
    await s.soon('what another process appended did not come', () => follower.events.length >= 3);
    expect(numbers(follower.events)).toEqual(upTo(3));
  }),
  storeCase('a position is good for a store that was opened again', async (s) => {
    const { position } = await s.append(2);
    await s.append(2, 1);
    await s.subject.reopen();
    expect(numbers((await s.caughtUp({ after: position })).events)).toEqual([2, 3]);
  }),
  storeCase(CATCHES_UP, async (s) => {
    for (const n of upTo(LONG / 500)) await s.append(500, n * 500 - 1);
    const follower = s.follow();
    for (const n of upTo(MEANWHILE)) await s.append(1, LONG - 1 + n);
    await s.soon('the catch-up missed events', () => follower.events.length >= LONG + MEANWHILE);
    expect(numbers(follower.events)).toEqual(upTo(LONG + MEANWHILE));
  }),
];

const streams = ({ events }: Follower) => events.map(({ stream }) => stream);

const marks: StoreCase[] = [
  storeCase('the caught-up mark comes for an empty store', async (s) => {
    expect((await s.caughtUp()).marks[0]).toBe(0);
  }),
  storeCase('the caught-up mark comes where nothing was appended after the position', async (s) => {
    const { position } = await s.append(3);
    expect((await s.caughtUp({ after: position })).marks[0]).toBe(0);
  }),
  ...[1, 1_000, 2_500].map((count) =>
    storeCase(`the caught-up mark comes after all of ${count} events that were stored`, async (s) => {
      await s.append(count);
      const follower = await s.caughtUp();
      expect(follower.marks[0]).toBe(count);
    }),
  ),
];

const heads: StoreCase[] = [
  storeCase('head is at or after every event that was acknowledged before it was asked for', async (s) => {
    const before = await s.store.head();
    const { position } = await s.append(3);
    const after = await s.store.head();
    expect(s.store.isAtOrAfter(after, position)).toBe(true);
    expect(s.store.isAtOrAfter(before, position)).toBe(false);
    expect(s.store.isAtOrAfter(position, before)).toBe(true);
    expect(s.store.isAtOrAfter(after, after)).toBe(true);
  }),
  storeCase('a subscription passes every head, also where the last event is of another stream', async (s) => {
    await s.append(3);
    const follower = await s.caughtUp();
    for (const stream of [s.stream('-new'), `x${s.prefix}`]) {
      await s.append(2, NO_STREAM, stream);
      const head = await s.store.head();
      const passed = () => s.store.isAtOrAfter(follower.batches.at(-1)?.position ?? '', head);
      await s.soon('the head was not passed', passed);
    }
    expect(follower.events).toHaveLength(5);
  }),
  storeCase('the caught-up mark passes every head given before, whatever the last record is', async (s) => {
    const { position } = await s.append(2);
    await s.append(1, NO_STREAM, `x${s.prefix}`);
    const head = await s.store.head();
    for (const after of [null, position]) {
      const { batches } = await s.caughtUp({ after });
      const mark = batches.find(({ caughtUp }) => caughtUp)?.position ?? '';
      expect(s.store.isAtOrAfter(mark, head)).toBe(true);
      expect(s.store.isAtOrAfter((await s.caughtUp({ after: mark })).batches.at(-1)?.position ?? '', head)).toBe(true);
    }
  }),
  storeCase('the position of a batch never goes back, and its events stand at or before it', async (s) => {
    for (const n of upTo(BATCHES / 500)) await s.append(500, n * 500 - 1);
    const follower = await s.caughtUp();
    await s.append(2, NO_STREAM, `x${s.prefix}`);
    await s.append(1, BATCHES - 1);
    await s.soon('the event did not come', () => follower.events.length === BATCHES + 1);
    let last = follower.batches[0]?.position ?? '';
    for (const { events, position } of follower.batches) {
      expect(s.store.isAtOrAfter(position, last)).toBe(true);
      expect(s.store.isAtOrAfter(position, events.at(-1)?.position ?? position)).toBe(true);
      last = position;
    }
  }),
];

const ends: StoreCase[] = [
  storeCase('a subscription that waits ends without error when its signal aborts', async (s) => {
    const follower = await s.caughtUp();
    follower.abort();
    await s.within('it did not end', follower.ended);
    expect(follower.failure).toBeNull();
  }),
  ...['not a position', '', '0', '-1', 'ffffffffffff.1', 'é😀'].map((position) =>
    storeCase(`subscribe after ${JSON.stringify(position)}, never given, rejects with OtherHistory`, async (s) => {
      await s.append(1);
      const follower = new Follower(s.store, { after: position, streamPrefix: s.prefix });
      await s.within('it did not end', follower.ended).finally(() => follower.abort());
      expect(follower.failure).toBeInstanceOf(OtherHistory);
      expect(follower.failure).toMatchObject({ code: 'OTHER_HISTORY', how: expect.any(String) });
    }),
  ),
];

export const subscribing = [...whatComes, ...marks, ...heads, ...ends];
