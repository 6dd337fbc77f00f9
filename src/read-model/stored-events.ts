/** Everything that the store has now, read once through a subscription: for commands, which have no read model. */
import { type EventBatch, type EventStore, type RecordedEvent, StoreUnavailable } from '../ports/event-store.js';
import type { SetAside } from '../ports/projection-states.js';
import { hiddenIn } from './account-unreadable.js';
import { type Folded, foldNext } from './fold.js';
import type { Projection } from './projection-source.js';

/** Until the subscription has caught up. @throws StoreUnavailable, also if the connection is lost */
export async function* storedBatches(
  store: Pick<EventStore, 'subscribe'>,
  after: string | null,
  streamPrefix: string,
): AsyncIterable<EventBatch> {
  const until = new AbortController();
  const onDropped = (error: StoreUnavailable) => until.abort(error);
  try {
    for await (const batch of store.subscribe({ after, streamPrefix, signal: until.signal, onDropped })) {
      yield batch;
      if (batch.caughtUp) return;
    }
    throw until.signal.reason ?? new StoreUnavailable('the event store was closed meanwhile');
  } finally {
    until.abort();
  }
}

export interface FoldedStreams<S> {
  /** A stream with an unreadable event only up to that event. */
  readonly states: ReadonlyMap<string, Folded<S>>;
  /** By an event that this release cannot read. */
  readonly unreadable: ReadonlyMap<string, SetAside>;
  /** Deleted, truncated or expired. */
  readonly hidden: ReadonlyMap<string, SetAside>;
}

/** @throws StoreUnavailable */
export async function foldStored<S>(
  store: Pick<EventStore, 'subscribe' | 'read'>,
  projection: Projection,
): Promise<FoldedStreams<S>> {
  const states = new Map<string, Folded<S>>();
  const unreadable = new Map<string, SetAside>();
  const suspects = new Set<string>();
  const fold = (event: RecordedEvent) => {
    const { stream, revision } = event;
    if (revision > 0 && !states.has(stream)) suspects.add(stream);
    if (unreadable.has(stream)) return;
    const next = foldNext(projection, states.get(stream), event);
    if ('why' in next) unreadable.set(stream, next);
    else states.set(stream, next);
  };
  for await (const { events, reshaped = [] } of storedBatches(store, null, projection.streamPrefix)) {
    for (const stream of reshaped) suspects.add(stream);
    events.forEach(fold);
  }
  const hidden = new Map<string, SetAside>();
  for (const stream of suspects) {
    const found = await hiddenIn(store, stream);
    if (found) hidden.set(stream, found);
  }
  return { states, unreadable, hidden };
}
