/** The reference for the server's projections: the same events, folded here. */
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { type RecordedEvent, StoreUnavailable } from '../ports/event-store.js';
import type { Projection } from './projection-source.js';
import type { ServerParts } from './server-condition.js';

const STILL_THERE_EVERY_MS = 2_000;

/** Every event of its streams, in order, up to the store's current end. @throws StoreUnavailable */
export async function* eventsOf(
  parts: ServerParts,
  { name, streamPrefix }: Pick<Projection, 'name' | 'streamPrefix'>,
): AsyncIterable<RecordedEvent> {
  const until = new AbortController();
  void abortWhenGone(parts, name, until);
  try {
    for await (const batch of parts.store.subscribe({ after: null, streamPrefix, signal: until.signal })) {
      yield* batch.events;
      if (batch.caughtUp) return;
    }
    throw until.signal.reason ?? new StoreUnavailable('the event store was closed meanwhile');
  } finally {
    until.abort();
  }
}

/**
 * A subscription waits without end for an unreachable store: so the server is polled, and its failure becomes the reason.
 */
async function abortWhenGone({ server }: ServerParts, name: string, until: AbortController): Promise<void> {
  const { signal } = until;
  while (!signal.aborted) {
    try {
      await delay(STILL_THERE_EVERY_MS, undefined, { signal });
      await server.status(name);
    } catch (error) {
      until.abort(error);
    }
  }
}

/** A stream's state after the event of this revision. */
export interface Place {
  readonly stream: string;
  readonly revision: number;
}

export interface TwoStates {
  readonly local: unknown;
  readonly server: unknown;
}

/**
 * Null if the server's state equals the one at this place, or after any later event: the server may be ahead of this fold.
 * @throws ProjectionMissing, StoreUnavailable
 */
export async function differenceAt(
  { store, server }: ServerParts,
  projection: Projection,
  { stream, revision }: Place,
): Promise<TwoStates | null> {
  const there = await server.state(projection.name, stream);
  let state = projection.init();
  let local: unknown = null;
  for await (const event of store.read(stream)) {
    state = projection.fold(state, event);
    if (event.revision < revision) continue;
    local = asStored(state);
    if (isDeepStrictEqual(local, there)) return null;
  }
  return { local, server: there };
}

/** A state as the server stores it. */
export function asStored(state: unknown): unknown {
  return JSON.parse(JSON.stringify(state));
}
