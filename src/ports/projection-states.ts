/**
 * Where a projection keeps what it has folded: one JSON state per stream, and the position up to which it folded.
 *
 * Semantics that every adapter keeps (test/contract/projection-states-contract.ts):
 * - It belongs to one process at a time, is local, and answers synchronously.
 * - commit stores states and position in one transaction: after a crash both are old or both are new.
 * - It can be lost at any time: whoever uses it rebuilds it from the event store.
 * - open with another version than the one stored forgets the projection's states and position.
 * - A method that finds the states damaged throws StatesDamaged. They are gone at the next start.
 */
export interface ProjectionStates {
  /** The position up to which the projection has folded; null: nothing yet. `version` names the fold's source. */
  open(projection: string, version: string): string | null;
  load(projection: string, stream: string): ProjectionState | undefined;
  /** Every state of the projection, in the order of stream names; what is committed meanwhile may be in it. */
  all(projection: string): Iterable<readonly [stream: string, state: ProjectionState]>;
  commit(projection: string, states: ReadonlyMap<string, ProjectionState>, position: string): void;
  /** Forgets the states and the position, and keeps the version. */
  reset(projection: string): void;
  close(): void;
}

export interface ProjectionState {
  /** The revision of the last event of the stream that was folded. */
  readonly revision: number;
  /** The state as JSON. */
  readonly json: string;
}

export class StatesDamaged extends Error {
  override readonly name = 'StatesDamaged';
  readonly code = 'STATES_DAMAGED';
}
