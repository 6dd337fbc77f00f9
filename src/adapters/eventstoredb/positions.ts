/**
 * A position is `<passed>/<place>/<commit>/<revision>/<event id>/<stream>`.
 * - passed: everything up to this place of the server's log was yielded. Compared with heads, and with nothing else: on
 *   KurrentDB 25 a checkpoint may lie behind the end of the log.
 * - place: where a subscription resumes. Always a record's own place: that of an event of ours, or of a head.
 * - commit, revision, event id, stream: our last yielded event. A store restored from a backup may have another event there,
 *   or none; the record at `place` may be a foreign one, and scavenged.
 *
 * A place of the log is compared by its commit alone: 23.10 gives some with a prepare of 0.
 */
const FORM = /^(\d+)\/(\d+)\/(\d+)\/(\d+)\/([^/]*)\/(.*)$/s;

export interface GivenEvent {
  readonly stream: string;
  readonly revision: number;
  readonly id: string;
  readonly commit: bigint;
}

export interface Mark {
  readonly passed: bigint;
  readonly place: bigint;
  /** Null if no event was yielded yet. */
  readonly event: GivenEvent | null;
}

export const BEGINNING: Mark = { passed: 0n, place: 0n, event: null };

export function toPosition({ passed, place, event }: Mark): string {
  const { commit = 0n, revision = 0, id = '', stream = '' } = event ?? {};
  return `${passed}/${place}/${commit}/${revision}/${id}/${stream}`;
}

/** Null if the text is no position of ours. */
export function fromPosition(position: string): Mark | null {
  const [, passed, place, commit, revision, id, stream = ''] = FORM.exec(position) ?? [];
  if (passed === undefined || place === undefined || commit === undefined || id === undefined) return null;
  const event = id === '' ? null : { stream, revision: Number(revision), id, commit: BigInt(commit) };
  return { passed: BigInt(passed), place: BigInt(place), event };
}

/** Of an event, or of a head: everything up to there. */
export function positionAt(commit: bigint, event: Omit<GivenEvent, 'commit'> | null = null): string {
  return toPosition({ passed: commit, place: commit, event: event && { ...event, commit } });
}

export function later(one: bigint, other: bigint): bigint {
  return one > other ? one : other;
}

export function earlier(one: bigint, other: bigint): bigint {
  return one < other ? one : other;
}
