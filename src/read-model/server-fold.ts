/** The reference for the server's projections: the same events, folded here. */
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { type EventBatch, type RecordedEvent, StoreUnavailable, StreamHidden } from '../ports/event-store.js';
import { setAsideHidden } from './account-unreadable.js';
import type { Projection } from './projection-source.js';
import type { ServerParts } from './server-condition.js';

const STILL_THERE_EVERY_MS = 2_000;

/** Every event of its streams, in order, up to the store's current end. @throws StoreUnavailable */
export async function* batchesOf(
  parts: ServerParts,
  { name, streamPrefix }: Pick<Projection, 'name' | 'streamPrefix'>,
): AsyncIterable<EventBatch> {
  const until = new AbortController();
  void abortWhenGone(parts, name, until);
  try {
    for await (const batch of parts.store.subscribe({ after: null, streamPrefix, signal: until.signal })) {
      yield batch;
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

/** The account's events cannot all be read: nothing can be compared, and the other accounts go on. */
export interface Unreadable {
  readonly unreadable: string;
}

/**
 * Null if the server's state equals the one at this place, or after any later event: the server may be ahead of this fold.
 * @throws ProjectionMissing, StoreUnavailable
 */
export async function differenceAt(
  { store, server }: ServerParts,
  projection: Projection,
  { stream, revision }: Place,
): Promise<TwoStates | Unreadable | null> {
  const there = await server.state(projection.name, stream);
  const fold = new StreamFold(projection);
  try {
    for await (const event of store.read(stream)) {
      fold.add(event);
      if (event.revision >= revision && fold.equals(there)) return null;
    }
  } catch (error) {
    if (error instanceof StreamHidden) return { unreadable: setAsideHidden(error).why };
    throw error;
  }
  return { local: fold.stored, server: there };
}

/** The state of one stream by this program's source. */
export class StreamFold {
  readonly #projection: Projection;
  #state: unknown;
  #hasHandled = false;

  constructor(projection: Projection) {
    this.#projection = projection;
    this.#state = projection.init();
  }

  add(event: RecordedEvent): void {
    this.#hasHandled ||= this.#projection.handles(event.type);
    this.#state = this.#projection.fold(this.#state, event);
  }

  /** As the server stores it. */
  get stored(): unknown {
    return JSON.parse(JSON.stringify(this.#state));
  }

  /** The server has no state, which reads as {}, until the first event that the projection handles. */
  equals(there: unknown): boolean {
    return isDeepStrictEqual(this.stored, there) || (!this.#hasHandled && isDeepStrictEqual(there, {}));
  }
}
