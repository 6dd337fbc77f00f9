/**
 * The read model's file: one JSON state per stream, the idempotency keys of its events, and the position up to which all of
 * it was folded.
 *
 * Semantics that every adapter keeps (test/contract/projection-states-contract.ts):
 * - The file belongs to one process at a time, is local, and answers synchronously.
 * - commit stores states, keys, streams set aside and position in one transaction: after a crash all are old or all are new.
 * - The file can be lost at any time: its user rebuilds it from the event store.
 * - open with another version or another history than those stored deletes states, keys, streams set aside and position.
 * - A method that finds the states damaged throws StatesDamaged. The next start deletes them.
 */
export interface ProjectionStates {
  /** The identity of the event store that the states were folded from; null: nothing was folded yet. */
  readonly history: string | null;
  /** The position up to which everything is folded; null: nothing yet. */
  open(of: StatesOrigin): string | null;
  load(stream: string): ProjectionState | undefined;
  /** Every state, ordered by stream name; may include states committed meanwhile. */
  all(): Iterable<readonly [stream: string, state: ProjectionState]>;
  /** The value stored under the key, as passed in `KeptKey.use`. */
  key(stream: string, key: string): string | undefined;
  /** The streams whose states are no longer folded, by name. */
  setAside(): ReadonlyMap<string, SetAside>;
  commit(changes: StateChanges): void;
  /** Deletes keys with an earlier `at`. */
  forgetKeys(before: number): void;
  /** Reports that a stored value can't be read: the states are damaged from now on. */
  unsound(cause: unknown): StatesDamaged;
  close(): void;
}

export interface StatesOrigin {
  /** Identifies the source of the fold. */
  readonly version: string;
  /** The identity of the event store. */
  readonly history: string;
}

export interface ProjectionState {
  /** The revision of the last folded event of the stream. */
  readonly revision: number;
  readonly eventId: string;
  readonly json: string;
}

export interface KeptKey {
  readonly stream: string;
  readonly key: string;
  /** ms since the epoch. */
  readonly at: number;
  readonly use: string;
}

/** A stream that is no longer folded. */
export interface SetAside {
  /** Completes "account 42 is set aside: ...", without any value from an event. */
  readonly why: string;
}

export interface StateChanges {
  readonly states: ReadonlyMap<string, ProjectionState>;
  /** Null: the stream is folded again. */
  readonly setAside: ReadonlyMap<string, SetAside | null>;
  readonly keys: readonly KeptKey[];
  /** Null: nothing was folded yet. */
  readonly position: string | null;
}

export class StatesDamaged extends Error {
  override readonly name = 'StatesDamaged';
  readonly code = 'STATES_DAMAGED';
}
