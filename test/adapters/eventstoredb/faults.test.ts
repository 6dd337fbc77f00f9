import { randomUUID } from 'node:crypto';
import { fromPosition } from '../../../src/adapters/eventstoredb/positions.js';
import {
  type EventStore,
  type NewEvent,
  NO_STREAM,
  OtherHistory,
  StoreUnavailable,
} from '../../../src/ports/event-store.js';
import { collect } from '../../contract/contract.js';
import { patience } from '../../runner/patience.js';
import { type EventStoreServer, startEventStore } from '../../services/eventstoredb/event-store-server.js';
import { SERVER_VERSIONS } from '../../services/eventstoredb/own-server.js';
import { json } from '../../services/eventstoredb/stored-data.js';
import { eventually } from '../../support/clocks/eventually.js';
import { openEventStoreDb } from '../../support/scenes/eventstoredb-subjects.js';

/** For what has to run into them: too short for anything else on a busy machine. */
const SHORT = { tryMs: 300, appendMs: 1_000, silenceMs: 1_000 };
const PATIENCE = { timeout: 15_000 };

let server: EventStoreServer;
let store: EventStore;
let closing: (() => unknown)[];

beforeEach(async () => {
  server = await startEventStore();
  closing = [() => server.stop()];
  store = open(server.url);
});

afterEach(async () => {
  for (const close of closing.reverse()) await close();
});

function open(url: string, limits = {}): EventStore {
  const opened = openEventStoreDb(url, limits);
  closing.push(() => opened.close());
  return opened;
}

const event = (data: NewEvent['data'] = {}): NewEvent => ({ id: randomUUID(), type: 'Happened', data, metadata: {} });

/** Follows until it is aborted; what came, in order. */
function follow(after: string | null = null) {
  const until = new AbortController();
  const seen: string[] = [];
  let marks = 0;
  let position = '';
  const passed: bigint[] = [];
  const ended = (async () => {
    for await (const batch of store.subscribe({ after, streamPrefix: 'account-', signal: until.signal })) {
      seen.push(...batch.events.map(({ id }) => id));
      if (batch.caughtUp) marks += 1;
      position = batch.position;
      passed.push(fromPosition(position)?.passed ?? 0n);
    }
  })();
  closing.push(async () => {
    until.abort();
    await ended;
  });
  return { seen, marks: () => marks, position: () => position, passed: () => passed };
}

describe('an append', () => {
  it.each(['before-stored', 'after-stored'] as const)('is stored once where the connection is cut %s', async (when) => {
    await store.append('account-1', [event()], NO_STREAM);
    server.faults.cutConnection(when);
    const second = event();
    expect(await store.append('account-1', [second], 0)).toMatchObject({ revision: 1 });
    expect((await collect(store.read('account-1'))).map(({ id }) => id)).toEqual([expect.any(String), second.id]);
  });

  it('ends with StoreUnavailable in its time where nobody answers, and is safely repeated', async () => {
    const given = event();
    server.faults.silent('append');
    const began = performance.now();
    const hasty = open(server.url, SHORT);
    await expect(hasty.append('account-1', [given], NO_STREAM)).rejects.toThrow(StoreUnavailable);
    expect(performance.now() - began).toBeLessThan(3 * SHORT.appendMs * patience());
    server.faults.clear();
    expect(await store.append('account-1', [given], NO_STREAM)).toMatchObject({ revision: 0 });
  });

  it('to a server that is not ready yet is tried again, for as long as an append may take', async () => {
    const given = event();
    server.faults.notReady();
    await expect(open(server.url, SHORT).append('account-1', [given], NO_STREAM)).rejects.toThrow(StoreUnavailable);
    server.faults.clear();
    expect(await store.append('account-1', [given], NO_STREAM)).toMatchObject({ revision: 0 });
  });
});

describe('a read', () => {
  it('ends with StoreUnavailable where nobody answers', async () => {
    server.faults.silent('read');
    await expect(collect(open(server.url, SHORT).read('account-1'))).rejects.toThrow(StoreUnavailable);
  });
});

describe('a subscription', () => {
  it.each([
    [
      'the server is killed and comes back',
      async () => {
        await server.kill();
        server = await startEventStore({ port: server.port, data: server.data });
      },
    ],
    ['the server ends it cleanly', async () => server.faults.endSubscriptionsCleanly()],
    ['the server drops it', async () => server.faults.dropSubscriptions()],
  ])('goes on after the last event it gave where %s', async (_, fault) => {
    const events = Array.from({ length: 50 }, () => event());
    await store.append('account-1', events.slice(0, 25), NO_STREAM);
    const { seen, marks } = follow();
    await eventually(() => marks() === 1, PATIENCE);
    await fault();
    await eventually(() => server.faults.running.size === 1, PATIENCE);
    await store.append('account-1', events.slice(25), 24);
    await eventually(() => seen.length >= 50, PATIENCE);
    expect(seen).toEqual(events.map(({ id }) => id));
  });

  it('that begins while the server is down begins when it is up', async () => {
    await store.append('account-1', [event()], NO_STREAM);
    await server.kill();
    const { seen, marks } = follow();
    server = await startEventStore({ port: server.port, data: server.data });
    await eventually(() => marks() >= 1, PATIENCE);
    expect(seen).toHaveLength(1);
  });

  it('after a position of another history rejects with OtherHistory', async () => {
    const { position } = await store.append('account-1', [event(), event()], NO_STREAM);
    const before = (await collect(store.read('account-1')))[0]?.position ?? '';
    await server.kill();
    server = await startEventStore({ port: server.port });
    await store.append('account-1', [event({ longer: 'than what stood here before' })], NO_STREAM);
    for (const after of [position, before]) {
      const following = collect(
        store.subscribe({
          after,
          streamPrefix: 'account-',
          signal: AbortSignal.timeout(Math.ceil(5_000 * patience())),
        }),
      );
      await expect(following).rejects.toThrow(OtherHistory);
    }
  });
});

describe.each(SERVER_VERSIONS)('on a quiet %s', (version) => {
  it('a subscription that falls behind passes the head again, and nothing behind it', async () => {
    const quiet = await startEventStore({ version });
    closing.push(() => quiet.stop());
    store = open(quiet.url);
    const { passed, marks } = follow();
    await eventually(() => marks() === 1, PATIENCE);
    quiet.faults.fallBehind();
    quiet.data.append('other-1', [json('Foreign', '{}'), json('Foreign', '{}')]);
    const last = quiet.data.log.at(-1)?.position;
    await eventually(() => passed().at(-1) === last, PATIENCE);
    await eventually(() => marks() === 2, PATIENCE);
    expect(passed().filter((place) => place > (last ?? 0n))).toEqual([]);
  });
});
