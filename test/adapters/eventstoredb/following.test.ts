/** What one turn of the event loop brings, on a client that the test holds in its hand. */
import { Readable } from 'node:stream';
import type { EventStoreDBClient, Position } from '@eventstore/db-client';
import { expect, test } from '@jest/globals';
import { Following } from '../../../src/adapters/eventstoredb/following.js';
import { fromPosition } from '../../../src/adapters/eventstoredb/positions.js';
import type { Reads } from '../../../src/adapters/eventstoredb/reads.js';
import type { EventBatch } from '../../../src/ports/event-store.js';
import { eventually } from '../../support/eventually.js';

const HEAD = { commit: 10n, id: 'head' };

interface Subscription {
  readonly stream: Readable;
  readonly checkpoint: (place: Position) => void;
}

function held() {
  const subscriptions: Subscription[] = [];
  const subscribeToAll = ({ filter }: { filter: { checkpointReached(of: unknown, place: Position): void } }) => {
    const stream = new Readable({ objectMode: true, read: () => undefined });
    subscriptions.push({ stream, checkpoint: (place) => filter.checkpointReached(null, place) });
    setImmediate(() => stream.emit('caughtUp'));
    return Object.assign(stream, { unsubscribe: async () => void stream.destroy() });
  };
  const reads = { head: async () => HEAD, newestHead: HEAD } as unknown as Reads;
  const ended = new AbortController();
  const of = { streamPrefix: 'account-', signal: ended.signal };
  const following = new Following({ subscribeToAll } as unknown as EventStoreDBClient, reads, of);
  return { following, subscriptions, ended };
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
