/**
 * A position is `<passed>/<commit>/<id>/<commit>/<revision>/<id>/<stream>`:
 * - passed: everything up to this place of the server's log was yielded. Compared with heads, and with nothing else: on
 *   KurrentDB 25 a checkpoint may lie behind the end of the log.
 * - record: where a subscription resumes: an event of ours, or a head. A store that was restored has another record at that
 *   place, or none: then what stands before it is unknown too.
 * - event: our last yielded event. Whether it is in the store tells whether the store is the same.
 *
 * Places of the log are compared by their commit alone: 23.10 gives some with a prepare of 0.
 */
const FORM = /^(\d+)\/(\d+)\/([^/]*)\/(\d+)\/(\d+)\/([^/]*)\/(.*)$/s;

/** A record of the log, ours or not. */
export type LogRecord = { readonly commit: bigint; readonly id: string };
export type GivenEvent = LogRecord & { readonly stream: string; readonly revision: number };

export interface Checkpoint {
  readonly passed: bigint;
  readonly record: LogRecord;
  /** Null if no event was yielded yet. */
  readonly event: GivenEvent | null;
}

export const NO_RECORD: LogRecord = { commit: 0n, id: '' };
export const BEGINNING: Checkpoint = { passed: 0n, record: NO_RECORD, event: null };

export function toPosition({ passed, record, event }: Checkpoint): string {
  const { commit = 0n, revision = 0, id = '', stream = '' } = event ?? {};
  return `${passed}/${record.commit}/${record.id}/${commit}/${revision}/${id}/${stream}`;
}

/** Null if the text is no position of ours. */
export function fromPosition(position: string): Checkpoint | null {
  const [, passed, at, recordId, commit, revision, id, stream = ''] = FORM.exec(position) ?? [];
  if (!passed || !at || !commit || id === undefined || recordId === undefined) return null;
  const event = id === '' ? null : { stream, revision: Number(revision), id, commit: BigInt(commit) };
  return { passed: BigInt(passed), record: { commit: BigInt(at), id: recordId }, event };
}

export function positionOfHead(record: LogRecord): string {
  return toPosition({ passed: record.commit, record, event: null });
}

export function positionOfEvent(event: GivenEvent): string {
  const { commit, id } = event;
  return toPosition({ passed: commit, record: { commit, id }, event });
}

export const later = (one: bigint, other: bigint) => (one > other ? one : other);
