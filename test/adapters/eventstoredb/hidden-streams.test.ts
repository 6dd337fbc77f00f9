/** Streams that an operator deletes, truncates or lets expire: they are hidden, and the store is the same as before. */
import { randomUUID } from 'node:crypto';
import { EventStoreDBClient } from '@eventstore/db-client';
import { disconnect } from '../../../src/adapters/eventstoredb/client.js';
import {
  type EventStore,
  type NewEvent,
  NO_STREAM,
  OtherHistory,
  StreamHidden,
} from '../../../src/ports/event-store.js';
import { collect } from '../../contract/contract.js';
import { type EventStoreServer, startEventStore } from '../../services/eventstoredb/event-store-server.js';
import { SERVER_VERSIONS } from '../../services/eventstoredb/own-server.js';
import { eventually } from '../../support/clocks/eventually.js';
import { openEventStoreDb } from '../../support/scenes/eventstoredb-subjects.js';

const STREAM = 'account-1';
const event = (): NewEvent => ({ id: randomUUID(), type: 'Happened', data: {}, metadata: {} });

describe.each(SERVER_VERSIONS)('%s', (version) => {
  let server: EventStoreServer;
  let store: EventStore;
  let client: EventStoreDBClient;
  let ids: string[];
  let last: string;

  beforeEach(async () => {
    server = await startEventStore({ version });
    store = openEventStoreDb(server.url);
    client = EventStoreDBClient.connectionString(server.url);
    const events = [event(), event(), event()];
    ids = events.map(({ id }) => id);
    last = (await store.append(STREAM, events, NO_STREAM)).position;
  });
  afterEach(async () => {
    await store.close();
    await disconnect(client);
    await server.stop();
  });

  /** Follows from a position until a batch satisfies `until`. */
  async function follow(after: string | null, until: (reshaped: readonly string[], caughtUp: boolean) => boolean) {
    const ended = new AbortController();
    const given: string[] = [];
    for await (const batch of store.subscribe({ after, streamPrefix: 'account-', signal: ended.signal })) {
      given.push(...batch.events.map(({ id }) => id));
      if (until(batch.reshaped ?? [], batch.caughtUp)) ended.abort();
    }
    return given;
  }
  const caughtUp = (after: string | null) => follow(after, (_, isCaughtUp) => isCaughtUp);

  const CHANGES = {
    'a soft delete': { change: () => client.deleteStream(STREAM), why: 'it was deleted' },
    'a tombstone': { change: () => client.tombstoneStream(STREAM), why: 'it was deleted for ever (tombstoned)' },
    'a truncation of all of it': {
      change: () => client.setStreamMetadata(STREAM, { truncateBefore: 3 }),
      why: 'it was truncated: its metadata has a $tb',
    },
    'a truncation of its beginning': {
      change: () => client.setStreamMetadata(STREAM, { truncateBefore: 1 }),
      why: 'its events before revision 1 were removed',
    },
    'a maximum count': {
      change: () => client.setStreamMetadata(STREAM, { maxCount: 1 }),
      why: 'its events before revision 2 were removed',
    },
    'a maximum age': {
      change: async () => {
        await client.setStreamMetadata(STREAM, { maxAge: 10 });
        server.data.age(STREAM, 11_000);
      },
      why: 'its events have expired: its metadata has a $maxAge of 10 s',
    },
  };

  describe.each(Object.entries(CHANGES))('%s', (_, { change, why }) => {
    it.each(['before', 'after'])('hides the stream %s a scavenge, and the store is the same', async (when) => {
      await change();
      if (when === 'after') server.data.scavenge();
      const refused = await collect(store.read(STREAM)).catch((error: unknown) => error);
      expect(refused).toBeInstanceOf(StreamHidden);
      expect(refused).toMatchObject({ code: 'STREAM_HIDDEN', stream: STREAM, why });
      expect(await caughtUp(last)).toEqual([]);
    });

    it('is told to who follows', async () => {
      const told = follow(last, (reshaped) => reshaped.includes(STREAM));
      await change();
      expect(await told).toEqual([]);
    });
  });

  it.each(['a soft delete', 'a truncation of all of it'] as const)(
    '%s is undone by metadata, and that is told',
    async (how) => {
      await CHANGES[how].change();
      let isFollowing = false;
      const told = follow(last, (reshaped, isCaughtUp) => {
        isFollowing ||= isCaughtUp;
        return reshaped.length > 0 && server.data.firstReadable(STREAM) === 0;
      });
      await eventually(() => isFollowing);
      await client.setStreamMetadata(STREAM, {});
      await client.setStreamMetadata(STREAM, {});
      await told;
      expect((await collect(store.read(STREAM))).map(({ id }) => id)).toEqual(ids);
    },
  );

  it('a store whose last event is gone without a deletion is another history, deleted streams or not', async () => {
    const kept = server.data.copy();
    const { position } = await store.append('account-2', [event()], NO_STREAM);
    await client.deleteStream(STREAM);
    await server.kill();
    server = await startEventStore({ version, port: server.port, data: kept });
    await eventually(() => store.head().catch(() => null));
    await expect(caughtUp(position)).rejects.toThrow(OtherHistory);
  });

  it('a subscription from a place that is inside a record begins at its last event', async () => {
    server.data.append('other-1', []);
    const kept = server.data.copy();
    await client.appendToStream('other-1', [
      { contentType: 'application/json', id: randomUUID(), type: 'Foreign', data: {}, metadata: {} },
    ]);
    let resumed = '';
    const ended = new AbortController();
    for await (const { position, caughtUp: isCaughtUp } of store.subscribe({
      after: last,
      streamPrefix: 'account-',
      signal: ended.signal,
    })) {
      resumed = position;
      if (isCaughtUp) ended.abort();
    }
    await server.kill();
    server = await startEventStore({ version, port: server.port, data: kept });
    await eventually(() => store.head().catch(() => null));
    // The log is longer again, and other records stand in it.
    kept.append('other-2', [{ ...FOREIGN, data: Buffer.from('"longer than what stood there before"') }]);
    kept.append('account-2', [{ ...FOREIGN, id: randomUUID() }]);
    expect(await caughtUp(resumed)).toHaveLength(1);
  });
});

const FOREIGN = {
  ...{ id: randomUUID(), type: 'Foreign', contentType: 'application/json' },
  ...{ data: Buffer.from('{}'), metadata: Buffer.from('') },
};
