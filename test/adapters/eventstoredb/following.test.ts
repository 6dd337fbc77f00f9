/** What one turn of the event loop brings, on a client that the test holds in its hand. */
import { Readable } from 'node:stream';
import type { EventStoreDBClient, Position } from '@eventstore/db-client';
import { Following } from '../../../src/adapters/eventstoredb/following.js';
import { fromPosition } from '../../../src/adapters/eventstoredb/positions.js';
import type { Reads } from '../../../src/adapters/eventstoredb/reads.js';
import type { EventBatch } from '../../../src/ports/event-store.js';
import { eventually } from '../../support/clocks/eventually.js';

const HEAD = { commit: 10n, id: 'head' };

interface Subscription {
  /** The search window: 1 when live. */
  readonly window: number;
  readonly stream: Readable;
  readonly checkpoint: (place: Position) => void;
}

interface Filter {
  readonly maxSearchWindow: number;
  checkpointReached(of: unknown, place: Position): void;
}

function held() {
  const subscriptions: Subscription[] = [];
  const subscribeToAll = ({ filter }: { filter: Filter }) => {
    const stream = new Readable({ objectMode: true, read: () => undefined });
    const checkpoint = (place: Position) => filter.checkpointReached(null, place);
    subscriptions.push({ window: filter.maxSearchWindow, stream, checkpoint });
    setImmediate(() => stream.emit('caughtUp'));
    return Object.assign(stream, { unsubscribe: async () => void stream.destroy() });
  };
  const reads = { head: async () => reads.newestHead, newestHead: HEAD };
  const ended = new AbortController();
  const of = { streamPrefix: 'account-', signal: ended.signal };
  const following = new Following({ subscribeToAll } as unknown as EventStoreDBClient, reads as unknown as Reads, of);
  return { following, subscriptions, reads, ended };
}

test('an event and the checkpoints behind it that arrive together are passed together', async () => {
  const { following, subscriptions, ended } = held();
  const batches: EventBatch[] = [];
  const reading = (async () => {
    for await (const batch of following.after(null)) batches.push(batch);
  })();
  await eventually(() => batches.at(-1)?.caughtUp);
  const { stream, checkpoint } = subscriptions.at(-1) as Subscription;
  const position = { commit: 20n, prepare: 20n };
  stream.push({ event: { streamId: 'account-1', id: 'e', type: 'T', revision: 0n, data: {}, metadata: {}, position } });
  for (const commit of [20n, 25n, 30n]) checkpoint({ commit, prepare: commit });
  await eventually(() => batches.at(-1)?.events.length === 1);
  expect(fromPosition(batches.at(-1)?.position ?? '')).toMatchObject({ passed: 30n, record: { commit: 20n, id: 'e' } });
  ended.abort();
  await reading;
});

async function live() {
  const { following, ...rest } = held();
  const batches: EventBatch[] = [];
  const reading = (async () => {
    for await (const batch of following.after(null)) batches.push(batch);
  })();
  await eventually(() => batches.at(-1)?.caughtUp);
  return { ...rest, batches, reading, windows: () => rest.subscriptions.map(({ window }) => window) };
}

test('a live subscription that is a second behind the head goes on with the wide window, and then narrow again', async () => {
  const { subscriptions, reads, batches, ended, reading, windows } = await live();
  expect(windows()).toEqual([1_000, 1]);
  reads.newestHead = { commit: 1_000_000n, id: 'burst' };
  let commit = 20n;
  await eventually(() => {
    commit += 1n;
    subscriptions[1]?.checkpoint({ commit, prepare: commit });
    return subscriptions.length === 4 && batches.at(-1)?.caughtUp;
  });
  expect(windows()).toEqual([1_000, 1, 1_000, 1]);
  expect(fromPosition(batches.at(-1)?.position ?? '')).toMatchObject({ passed: 1_000_000n });
  ended.abort();
  await reading;
});
