import { randomUUID } from 'node:crypto';
import { afterEach, expect, test } from '@jest/globals';
import { connect, credentialsOf } from '../../src/adapters/eventstoredb/client.js';
import { EventStoreDbStore } from '../../src/adapters/eventstoredb/event-store.js';
import { KEY_STREAM_KEPT_MS, KEY_STREAMS } from '../../src/idempotency/expiry.js';
import { createFingerprints } from '../../src/idempotency/fingerprint.js';
import { createIdempotencyKeys } from '../../src/idempotency/idempotency-keys.js';
import { type EventStore, NO_STREAM } from '../../src/ports/event-store.js';
import { masterKey } from '../../src/secrets/master-keys.js';
import { event } from '../contract/event-store/follower.js';
import { type EventStoreServer, startEventStore } from '../services/eventstoredb/event-store-server.js';
import { silentLogger } from '../support/silent-logger.js';
import { SqliteFolder } from '../support/sqlite-folder.js';

const DAYS = 24 * 3_600_000;
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** Asks with one key, now and later. */
function asking(store: EventStore) {
  const key = randomUUID();
  let performed = 0;
  const perform = async () => {
    performed += 1;
    return { kind: 'done' as const, answer: { status: 200, message: `answer ${performed}` } };
  };
  return (afterMs = 0) => {
    const fingerprints = createFingerprints([masterKey(Buffer.alloc(32, 1))]);
    const now = () => new Date(Date.now() + afterMs);
    const keys = createIdempotencyKeys({ store, fingerprints, newEventId: randomUUID, now });
    return keys.once({ accountId: 42, key, content: 'a' }, async () => ({ kind: 'ready', perform }));
  };
}

const answered = (kind: 'done' | 'replayed', n: number) => ({
  kind,
  answer: { status: 200, message: `answer ${n}` },
});

async function onEventStoreDb(): Promise<{ server: EventStoreServer; store: EventStore }> {
  const server = await startEventStore();
  cleanups.push(() => server.stop());
  const { url } = server;
  const expiring = { prefix: KEY_STREAMS, afterMs: KEY_STREAM_KEPT_MS };
  const credentials = credentialsOf(url);
  const own = { client: connect(url), credentials, logger: silentLogger, random: Math.random };
  const store = new EventStoreDbStore({ ...own, expiring });
  cleanups.push(() => store.close());
  return { server, store };
}

function streamsOf({ data }: EventStoreServer, prefix: string) {
  return [...new Set(data.log.map(({ stream }) => stream))].filter((name) => name.startsWith(prefix));
}

test('EventStoreDB is told how long it keeps the streams of keys, and of no others', async () => {
  const { server, store } = await onEventStoreDb();
  await store.append('account-42', [event()], NO_STREAM);
  await asking(store)();
  const [name, ...others] = streamsOf(server, '$$idempotency-');
  expect([others, streamsOf(server, '$$account-')]).toEqual([[], []]);
  const told = server.data.stream(String(name)).map(({ data }) => JSON.parse(Buffer.from(data).toString()));
  expect(told).toEqual([{ $maxAge: 25 * 3_600 }]);
});

test('a key whose events EventStoreDB has removed is as good as new', async () => {
  const { server, store } = await onEventStoreDb();
  const ask = asking(store);
  expect(await ask()).toEqual(answered('done', 1));
  for (const stored of server.data.log) Object.assign(stored, { created: Date.now() - 2 * DAYS });
  expect(await ask(2 * DAYS)).toEqual(answered('done', 2));
  expect(await ask(2 * DAYS)).toEqual(answered('replayed', 2));
});

test('a key whose stream is removed while it is asked for is as good as new', async () => {
  const folder = new SqliteFolder();
  cleanups.push(() => folder.close());
  const { store, file } = folder.open();
  let isDue = false;
  const removing: EventStore = {
    read: (...args) => store.read(...args),
    subscribe: (...args) => store.subscribe(...args),
    close: () => store.close(),
    async append(...args) {
      if (isDue) file.file.exec('DELETE FROM events');
      isDue = false;
      return store.append(...args);
    },
  };
  const ask = asking(removing);
  expect(await ask()).toEqual(answered('done', 1));
  isDue = true;
  expect(await ask(2 * DAYS)).toEqual(answered('done', 2));
  expect(isDue).toBe(false);
  expect(await ask(2 * DAYS)).toEqual(answered('replayed', 2));
});
