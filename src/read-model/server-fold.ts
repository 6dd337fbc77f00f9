/** What the projections of the server are compared with: the same events, folded here. */
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { type RecordedEvent, StoreUnavailable } from '../ports/event-store.js';
import type { Projection } from './projection-source.js';
import type { ServerParts } from './server-standing.js';

const STILL_THERE_EVERY_MS = 2_000;

/** Every event of its streams, in order, as the store stands now. @throws StoreUnavailable */
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

/** A subscription waits for a store that is down, for ever: so the server is asked, and its failure is the reason. */
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

/** A stream as it stood after the event of this revision. */
export interface Place {
  readonly stream: string;
  readonly revision: number;
}

export interface TwoStates {
  readonly local: unknown;
  readonly server: unknown;
}

/**
 * Null where the server's state is that of the place, or of any event after it: it may be ahead of what was folded here.
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

/** What the server makes of a state. */
export function asStored(state: unknown): unknown {
  return JSON.parse(JSON.stringify(state));
}
