/**
 * The event store: append-only streams, the truth of this service.
 *
 * Words: a *stream* holds events in order, numbered by *revision* from 0. Every event also has a *position*, its place
 * among all events of the store. A position is an opaque string: it is kept and handed back, never compared or computed.
 *
 * Semantics that every adapter keeps (test/contract/event-store-contract.ts):
 * - append is atomic: all of its events are stored, in order, or none. It resolves when they are durable.
 * - append is decided by the expected revision: the last revision the caller has seen, or NO_STREAM. Where the stream
 *   stands elsewhere it rejects with WrongExpectedRevision and stores nothing.
 * - append is idempotent: the same event ids with the same expected revision give back the first result. After
 *   StoreUnavailable the append is in doubt, so it is repeated with the same ids, never with new ones.
 * - read gives the events of a stream from a revision on, in order: all that were stored when the first was asked for,
 *   and maybe some that were stored meanwhile. A stream that was never written is empty. Of several servers the leader
 *   answers, so an event that is missing is in no acknowledged append.
 * - data and metadata are objects, whatever the store has: others may write to it. Where it has null, another value or what
 *   is no JSON, they are NO_OBJECT.
 * - head is a position at or after every event that was acknowledged before it was asked for. The leader answers.
 * - subscribe gives every event of the streams whose name starts with the prefix, once each and in the order of their
 *   positions, those appended by other processes too; it goes on until its signal aborts, and then ends without error.
 *   A lost connection is the adapter's to mend, from the last event it gave.
 * - A batch's position says up to which place everything was given, events of other streams passed over; it never goes
 *   back. A subscription that follows passes every head, though maybe without an event to give.
 * - Beginning after a position of another history is OtherHistory: the event that it names does not stand there, or the
 *   store ends before it. A store that was restored from a backup is another history from its end on.
 * - The caught-up mark is in order: a batch with caughtUp = true comes after every event that was stored when the
 *   subscription was made (or had to be remade). It may come again, and it comes for an empty store too.
 * - Every call ends: an adapter sets a time limit of its own and reports it as StoreUnavailable.
 * - close ends every subscription and releases everything; it may be called twice. What is asked for afterwards is
 *   rejected with StoreUnavailable.
 */
export interface EventStore {
  /** @throws WrongExpectedRevision, StoreUnavailable */
  append(stream: string, events: readonly NewEvent[], expectedRevision: number): Promise<Appended>;
  /** @throws StoreUnavailable */
  read(stream: string, fromRevision?: number): AsyncIterable<RecordedEvent>;
  /**
   * Whether the event is the last one of its stream, by the leader's word. Each command asks (docs/decisions/0007).
   * @throws StoreUnavailable
   */
  endsWith(stream: string, revision: number, id: string): Promise<boolean>;
  /** @throws OtherHistory where `after` is no position of this store; StoreUnavailable where it can't be mended */
  subscribe(options: SubscribeOptions): AsyncIterable<EventBatch>;
  /** @throws StoreUnavailable; OtherHistory where the store was replaced while it was open */
  head(): Promise<string>;
  /** Whether everything before `head` stands before `position`; both are positions of this store. */
  isAtOrAfter(position: string, head: string): boolean;
  close(): Promise<void>;
}

/** What expectedRevision is for a stream that must not exist yet. */
export const NO_STREAM = -1;

/** What stands for data and metadata that are no JSON object. */
export const NO_OBJECT: Readonly<Record<string, unknown>> = Object.freeze({});

export interface NewEvent {
  /** A UUID, chosen by the caller: what makes a repeated append safe. */
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
  /** The position after which to begin; null is the beginning. */
  readonly after: string | null;
  readonly streamPrefix: string;
  readonly signal: AbortSignal;
  /** Told each time the store is found out of reach while the subscription is mended; the mark comes again afterwards. */
  readonly onDropped?: (error: StoreUnavailable) => void;
}

/** Events, or the caught-up mark, or a place that was passed without an event. */
export interface EventBatch {
  readonly events: readonly RecordedEvent[];
  /** Everything up to here was given, by this batch or earlier ones. */
  readonly position: string;
  readonly caughtUp: boolean;
}

export class WrongExpectedRevision extends Error {
  override readonly name = 'WrongExpectedRevision';
  readonly code = 'WRONG_EXPECTED_REVISION';
  constructor(
    readonly stream: string,
    readonly expected: number,
    /** The stream's last revision, NO_STREAM where there is none. */
    readonly actual: number,
  ) {
    super(`stream ${stream} is at revision ${actual}, expected ${expected}`);
  }
}

/** It can't be reached, or does not answer in time: to be tried again. */
export class StoreUnavailable extends Error {
  override readonly name: string = 'StoreUnavailable';
  readonly code: string = 'STORE_UNAVAILABLE';
}

/** The server rejected our credentials or certificate. Retrying won't help. */
export class StoreRefused extends StoreUnavailable {
  override readonly name = 'StoreRefused';
  override readonly code = 'STORE_REFUSED';
}

/** The store is a different one than before, or the same one as it was earlier: nothing that was folded from it counts. */
export class OtherHistory extends Error {
  override readonly name = 'OtherHistory';
  readonly code = 'OTHER_HISTORY';
  /** @param how the store differs: completes "the event store ..." */
  constructor(readonly how: string) {
    super(`the event store ${how}`);
  }
}
