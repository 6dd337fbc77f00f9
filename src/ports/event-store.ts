/**
 * The event store: append-only streams, this service's source of truth.
 *
 * Words: a *stream* holds events in order, numbered by *revision* from 0. Every event also has a *position*, its place among
 * all events of the store. A position is an opaque string: store it and pass it back, never compare or compute it.
 *
 * Semantics that every adapter keeps (test/contract/event-store-contract.ts):
 * - append is atomic: all of its events are stored, in order, or none. The promise resolves when they are durable.
 * - append takes the expected revision: the last revision the caller has seen, or NO_STREAM. If the stream's last revision
 *   differs, append rejects with WrongExpectedRevision and stores nothing.
 * - append is idempotent: the same event ids with the same expected revision return the first result. After StoreUnavailable
 *   the append is in doubt: repeat it with the same ids, never with new ones.
 * - read yields the events of a stream from a revision on, in order: all that were stored at the time of the first request,
 *   and maybe some stored since. A stream that was never written is empty. In a cluster the leader answers, so a missing
 *   event is in no acknowledged append.
 * - read of some types yields only events of these types. The embedded store does not read the data of others; a server sends
 *   them all.
 * - read rejects with StreamHidden if the event at the first revision was stored but is hidden or removed: an operator
 *   deleted or truncated the stream, or gave it a maximum age or count. So a stream is read whole or not at all.
 * - data and metadata are always objects, though others may write to the store: null, other values and invalid JSON become
 *   NO_OBJECT.
 * - Objects that are longer than MAX_EVENT_BYTES or nested deeper than MAX_NESTING become NO_OBJECT, too.
 * - head is a position at or after every event acknowledged before the call. The leader answers.
 * - subscribe yields every event of the streams whose name starts with the prefix, once each and in position order,
 *   including appends by other processes. The subscription runs until its signal aborts, and then ends without error. The
 *   adapter recovers from a lost connection, resuming after the last yielded event.
 * - A batch's position covers everything yielded so far, including events of other streams that were skipped. It may go back
 *   after a lost connection, until the next caught-up mark. A subscription that follows passes every head, though maybe
 *   without an event to yield.
 * - Starting after a position of another history is OtherHistory: the last event yielded before it is not in the store any
 *   more, and not merely hidden. A store restored from a backup is another history if it lacks that event.
 * - The caught-up mark is in order: a batch with caughtUp = true comes after every event stored when the subscription was
 *   created (or recreated), and its position passes every head given before. It may be repeated, and is sent for an empty
 *   store too.
 * - Every call ends: an adapter sets its own time limit and reports a timeout as StoreUnavailable.
 * - close ends every subscription and releases everything. Idempotent. Later calls reject with StoreUnavailable.
 */
export interface EventStore {
  /** @throws WrongExpectedRevision, StoreUnavailable */
  append(stream: string, events: readonly NewEvent[], expectedRevision: number): Promise<Appended>;
  /** @param types all if omitted @throws StoreUnavailable, StreamHidden */
  read(stream: string, fromRevision?: number, types?: readonly string[]): AsyncIterable<RecordedEvent>;
  /**
   * Whether the event is the last one of its stream, according to the leader. Each command calls this (docs/decisions/0007).
   * @throws StoreUnavailable, StreamHidden
   */
  endsWith(stream: string, revision: number, id: string): Promise<boolean>;
  /** @throws OtherHistory if `after` is no position of this store; StoreUnavailable if the adapter can't recover */
  subscribe(options: SubscribeOptions): AsyncIterable<EventBatch>;
  /** @throws StoreUnavailable; OtherHistory if the store was replaced while it was open */
  head(): Promise<string>;
  /** Whether everything before `head` is also before `position`. Both must be positions of this store. */
  isAtOrAfter(position: string, head: string): boolean;
  close(): Promise<void>;
}

/** The expectedRevision of a stream that must not exist yet. */
export const NO_STREAM = -1;

/**
 * Limit on data and on metadata, each as JSON in UTF-8. Commands write up to 45 KiB of data, and 220 KiB of metadata: an
 * Idempotency-Key with 100 webhooks of 2,048 characters each. A URL of 20 MiB stopped the event loop for 0.9 s of CPU.
 */
export const MAX_EVENT_BYTES = 512 * 1024;

/** Commands nest up to four levels; JSON.stringify and recursive functions fail at some thousands. */
export const MAX_NESTING = 256;

/** Replaces data and metadata that are not a JSON object within these limits. */
export const NO_OBJECT: Readonly<Record<string, unknown>> = Object.freeze({});

export interface NewEvent {
  /** A UUID chosen by the caller: makes a repeated append idempotent. */
  readonly id: string;
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly metadata: Readonly<Record<string, unknown>>;
}

export interface RecordedEvent extends NewEvent {
  readonly stream: string;
  readonly revision: number;
  readonly position: string;
}

export interface Appended {
  /** The revision of the last event of the append. */
  readonly revision: number;
  readonly position: string;
}

export interface SubscribeOptions {
  /** The position after which to start; null is the beginning. */
  readonly after: string | null;
  readonly streamPrefix: string;
  readonly signal: AbortSignal;
  /** Called each time a recovering subscription finds the store unreachable; the caught-up mark is sent again afterwards. */
  readonly onDropped?: (error: StoreUnavailable) => void;
}

/** Events, or the caught-up mark, or a position that was passed without an event. */
export interface EventBatch {
  readonly events: readonly RecordedEvent[];
  /** Everything up to here was yielded, by this batch or earlier ones. */
  readonly position: string;
  readonly caughtUp: boolean;
  /** Streams of which events may be hidden from now on, or visible again: deleted, truncated, given a maximum age. */
  readonly reshaped?: readonly string[];
}

export class WrongExpectedRevision extends Error {
  override readonly name = 'WrongExpectedRevision';
  readonly code = 'WRONG_EXPECTED_REVISION';
  constructor(
    readonly stream: string,
    readonly expected: number,
    /** The stream's last revision; NO_STREAM if it has none. */
    readonly actual: number,
  ) {
    super(`stream ${stream} is at revision ${actual}, expected ${expected}`);
  }
}

/** The store is unreachable or does not answer in time: retry. */
export class StoreUnavailable extends Error {
  override readonly name: string = 'StoreUnavailable';
  readonly code: string = 'STORE_UNAVAILABLE';
}

/** The server rejected our credentials or certificate. Retrying won't help. */
export class StoreRefused extends StoreUnavailable {
  override readonly name = 'StoreRefused';
  override readonly code = 'STORE_REFUSED';
}

/** Events of the stream are hidden or removed: what is left of it is not its history. */
export class StreamHidden extends Error {
  override readonly name = 'StreamHidden';
  readonly code = 'STREAM_HIDDEN';
  /** @param why completes "the stream ... cannot be read: ..." */
  constructor(
    readonly stream: string,
    readonly why: string,
  ) {
    super(`the stream ${stream} cannot be read: ${why}`);
  }
}

/** The store was replaced, or restored to an earlier state: states folded from it are invalid. */
export class OtherHistory extends Error {
  override readonly name = 'OtherHistory';
  readonly code = 'OTHER_HISTORY';
  /** @param how the store differs: completes "the event store ..." */
  constructor(readonly how: string) {
    super(`the event store ${how}`);
  }
}
