/** Reads of $all and subscriptions to it, as measured of both versions: positions, checkpoints, the mark, links. */
import { once } from 'node:events';
import {
  type END,
  EventStoreDBClient,
  jsonEvent,
  type Position,
  type ResolvedEvent,
  START,
  streamNameFilter,
} from '@eventstore/db-client';
import { disconnect } from '../../../src/adapters/eventstoredb/client.js';
import { collect } from '../../contract/contract.js';
import { eventually } from '../../support/clocks/eventually.js';
import { type EventStoreOptions, startEventStore } from './event-store-server.js';
import { needsTestServer, startOwnServer, VERSIONS } from './own-server.js';

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function ending<S extends { stop(): Promise<void> }>(starting: Promise<S>): Promise<S> {
  const server = await starting;
  ends.push(() => server.stop());
  return server;
}

/** The test server, or a real one. */
const open = (options?: EventStoreOptions) => ending(startOwnServer(options));
/** The test server, whatever EVENTSTOREDB_COMMAND says. */
const start = (options?: EventStoreOptions) => ending(startEventStore(options));
let client: EventStoreDBClient;

function connect(url: string): EventStoreDBClient {
  const connected = EventStoreDBClient.connectionString(url);
  ends.push(() => disconnect(connected));
  return connected;
}

const UNTYPED = { kind: 'UnknownError', type: 'unknown' } as const;
/** What is said of a place inside an event. */
const REFUSALS = {
  '23.10': {
    read: { ...UNTYPED, code: 2, message: '2 UNKNOWN: Unexpected ReadAllResult: Error' },
    subscribe: { ...UNTYPED, code: 2, message: '2 UNKNOWN: Unexpected FilteredReadAllResult: Error' },
  },
  '25': {
    read: { ...UNTYPED, code: 2, message: '2 UNKNOWN: Unexpected ReadAllResult: InvalidPosition' },
    subscribe: { ...UNTYPED, code: 3, message: '3 INVALID_ARGUMENT: InvalidPosition' },
  },
} as const;
const BEYOND = 1_000_000n;

const event = (number: number) => jsonEvent({ type: 'Counted', data: { number } });
const several = (count: number) => Array.from({ length: count }, (_, number) => event(number));
const later = ({ commit, prepare }: Position, by: bigint): Position => ({ commit: commit + by, prepare: prepare + by });
const read = (fromPosition: Position) => collect<ResolvedEvent>(client.readAll({ fromPosition, maxCount: 1 }));
/** The fields that tell errors apart. */
const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error) => ({ kind: error.constructor.name, type: error.type, code: error.code, message: error.message }),
  );
const subscribe = (fromPosition: Position | typeof START | typeof END = START) =>
  client.subscribeToAll({ fromPosition, filter: streamNameFilter({ prefixes: ['account-'] }) });

/** The checkpoints of a subscription to streams of ours. */
function follow(maxSearchWindow: number, checkpointInterval: number) {
  const places: Position[] = [];
  const checkpointReached = async (_: unknown, { commit, prepare }: Position) => void places.push({ commit, prepare });
  const filter = streamNameFilter({ prefixes: ['account-'], maxSearchWindow, checkpointInterval, checkpointReached });
  const subscription = client.subscribeToAll({ fromPosition: START, filter });
  subscription.on('data', () => undefined);
  return { subscription, places };
}

describe.each(VERSIONS)('%s', (version) => {
  let position: Position;
  beforeEach(async () => {
    client = connect((await open({ version })).url);
    position = (await client.appendToStream('account-1', event(1))).position as Position;
  });

  test('a read from the position of an event gives that event first', async () => {
    expect(await read(position)).toMatchObject([{ event: { data: { number: 1 } } }]);
  });

  test('a read and a subscription from a place inside an event fail with words that name no cause', async () => {
    // Of the newest event, a server would for some milliseconds return nothing instead.
    await client.appendToStream('account-1', event(2));
    expect(await failure(read(later(position, 1n)))).toEqual(REFUSALS[version].read);
    expect(await failure(collect(subscribe(later(position, 1n))))).toEqual(REFUSALS[version].subscribe);
  });

  test('a read from inside the newest event fails soon, and may give nothing before', async () => {
    const { position: newest } = await client.appendToStream('account-1', event(2));
    const ends = new Set<unknown>();
    await eventually(async () => {
      const ended = await read(later(newest as Position, 1n)).catch((error) => error.message);
      ends.add(JSON.stringify(ended));
      return typeof ended === 'string';
    });
    expect([...ends].filter((end) => end !== '[]')).toEqual([JSON.stringify(REFUSALS[version].read.message)]);
  });

  test('a read from beyond the end gives nothing, without an error', async () => {
    expect(await read(later(position, BEYOND))).toEqual([]);
  });

  needsTestServer(() =>
    test('checkpoints have no prepare (23.10) or lie behind their record (25) until the end, and are exact when live', async () => {
      const { data, url } = await start({ version });
      client = connect(url);
      await client.appendToStream('other-1', several(2));
      const { places, subscription } = follow(1, 1);
      await once(subscription, 'caughtUp');
      const stored = data.log.map(({ position: commit }) => commit);
      const onTheWay = {
        '23.10': stored.map((commit) => ({ commit, prepare: 0n })),
        '25': [...stored.slice(1), data.end].map((commit) => ({ commit, prepare: commit })),
      };
      expect(places).toEqual(onTheWay[version]);
      await client.appendToStream('other-1', event(3));
      const live = data.log.slice(stored.length).map(({ position: commit }) => ({ commit, prepare: commit }));
      await eventually(() => places.length === stored.length + live.length);
      expect(places.slice(stored.length)).toEqual(live);
      await subscription.unsubscribe();
    }),
  );
});

describe('a subscription', () => {
  beforeEach(async () => {
    client = connect((await open()).url);
  });

  test.each([0, 17, 2_000])('is caught up when `readableLength` of %i events are still to come', async (all) => {
    for (let left = all; left > 0; left -= 500) {
      await client.appendToStream('account-1', several(Math.min(500, left)));
    }
    let handled = 0;
    const subscription = subscribe();
    const atMark = new Promise<number>((resolve) => {
      subscription.once('caughtUp', () => resolve(handled + subscription.readableLength));
    });
    const reading = (async () => {
      for await (const _ of subscription) handled += 1;
    })();
    expect(await atMark).toBe(all);
    await eventually(() => handled === all);
    await subscription.unsubscribe();
    await reading;
  });
});

needsTestServer(() => {
  let server: Awaited<ReturnType<typeof start>>;
  beforeEach(async () => {
    server = await start({ version: '23.10' });
    client = connect(server.url);
  });

  test.each([
    [1, 1, 1],
    [10, 3, 30],
  ])('with window %i and interval %i a checkpoint comes after each %i records', async (window, interval, every) => {
    await client.appendToStream('other-1', several(40));
    const { subscription, places } = follow(window, interval);
    await once(subscription, 'caughtUp');
    const caughtUp = places.length;
    await client.appendToStream('other-1', several(40));
    const expected = server.data.log.map(({ position }) => position).filter((_, place) => (place + 1) % every === 0);
    await eventually(() => places.length === expected.length);
    expect(places.map(({ commit }) => commit)).toEqual(expected);
    expect(caughtUp).toBeGreaterThan(0);
    expect(places.length).toBeGreaterThan(caughtUp);
    await subscription.unsubscribe();
  });
});
