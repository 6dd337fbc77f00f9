/** Checkpoints of a filtered subscription: the client gives them to the filter's `checkpointReached`. */
import { once } from 'node:events';
import { BACKWARDS, END, type Position, START, streamNameFilter } from '@eventstore/db-client';
import { eventually } from '../../support/eventually.js';
import { collect, event, harness, numbers } from './harness.js';
import { needsTestServer, VERSIONS } from './own-server.js';

const { open, start, client: connect } = harness();
let client: ReturnType<typeof connect>;

beforeEach(async () => {
  client = connect((await open()).url);
});

/** Follows streams that begin with `account-`. */
function follow(maxSearchWindow: number, checkpointInterval: number) {
  const places: Position[] = [];
  const checkpoints: bigint[] = [];
  const checkpointReached = async (_: unknown, { commit, prepare }: Position) => {
    places.push({ commit, prepare });
    checkpoints.push(commit);
  };
  const filter = streamNameFilter({ prefixes: ['account-'], maxSearchWindow, checkpointInterval, checkpointReached });
  const subscription = client.subscribeToAll({ fromPosition: START, filter });
  const events: Parameters<typeof numbers>[0][number][] = [];
  subscription.on('data', (each) => events.push(each));
  return { subscription, places, checkpoints, events };
}

const head = async () => {
  const [last] = await collect(client.readAll({ direction: BACKWARDS, fromPosition: END, maxCount: 1 }));
  return last?.event?.position?.commit ?? 0n;
};

const allPositions = async () =>
  (await collect(client.readAll({ fromPosition: START }))).map((each) => each.event?.position?.commit ?? 0n);

test('a subscription is confirmed, with an id', async () => {
  const { subscription } = follow(1, 1);
  await once(subscription, 'confirmation');
  expect(subscription.id).toMatch(/^[0-9a-f-]{36}$/);
  await subscription.unsubscribe();
});

test('with window 1 each record that is appended gives one, so it is known when the head was passed', async () => {
  const { subscription, checkpoints, events } = follow(1, 1);
  await once(subscription, 'caughtUp');
  const before = await head();
  await client.appendToStream('other-1', event(1));
  await client.appendToStream('account-1', event(2));
  const asked = await head();
  await eventually(() => (checkpoints.at(-1) ?? 0n) >= asked);
  // The event comes before the checkpoint of its record.
  expect(numbers(events)).toEqual([2]);
  const passed = (await allPositions()).filter((position) => position > before && position <= asked);
  expect(checkpoints).toEqual(expect.arrayContaining(passed));
  await subscription.unsubscribe();
});

needsTestServer(() => {
  let server: Awaited<ReturnType<typeof start>>;
  beforeEach(async () => {
    server = await start({ version: '23.10' });
    client = connect(server.url);
  });

  describe.each(VERSIONS)('%s', (version) => {
    test('what it gives on the way to the end, and what it gives when live', async () => {
      const other = await start({ version });
      client = connect(other.url);
      await client.appendToStream('other-1', [event(1), event(2)]);
      const { places, subscription } = follow(1, 1);
      await once(subscription, 'caughtUp');
      const stored = other.data.log.map(({ position: commit }) => commit);
      const end = other.data.end;
      const onTheWay = {
        '23.10': stored.map((commit) => ({ commit, prepare: 0n })),
        '25': [...stored.slice(1), end].map((commit) => ({ commit, prepare: commit })),
      };
      expect(places).toEqual(onTheWay[version]);
      await client.appendToStream('other-1', event(3));
      const live = other.data.log.slice(stored.length).map(({ position: commit }) => ({ commit, prepare: commit }));
      await eventually(() => places.length === stored.length + live.length);
      expect(places.slice(stored.length)).toEqual(live);
      await subscription.unsubscribe();
    });
  });

  describe.each([
    [1, 1, 1],
    [32, 1, 32],
    [10, 3, 30],
  ])('with window %i and interval %i', (window, interval, every) => {
    test(`one comes after each ${every} records, in catching up and live`, async () => {
      const several = () => Array.from({ length: 40 }, (_, number) => event(number));
      await client.appendToStream('other-1', several());
      const { subscription, checkpoints } = follow(window, interval);
      await once(subscription, 'caughtUp');
      const caughtUp = checkpoints.length;
      await client.appendToStream('other-1', several());
      const expected = server.data.log.map(({ position }) => position).filter((_, place) => (place + 1) % every === 0);
      await eventually(() => checkpoints.length === expected.length);
      expect(checkpoints).toEqual(expected);
      expect(caughtUp).toBeGreaterThan(0);
      expect(checkpoints.length).toBeGreaterThan(caughtUp);
      await subscription.unsubscribe();
    });
  });
});
