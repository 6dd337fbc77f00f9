/**
 * A position is `<commit>/<prepare>/<revision>/<event id>/<stream>`: a place in the server's log up to which everything was
 * yielded, and our last yielded event. A store restored from a backup may have another event at that event's place, or none;
 * the record at the place itself may be a foreign one, and scavenged.
 */
import type { Position } from '@eventstore/db-client';

const FORM = /^(\d+)\/(\d+)\/(\d+)\/([^/]*)\/(.*)$/s;

export interface GivenEvent {
  readonly stream: string;
  readonly revision: number;
  readonly id: string;
}

export interface Mark {
  readonly place: Position;
  /** Null if no event was yielded yet. */
  readonly event: GivenEvent | null;
}

export function toPosition({ commit, prepare }: Position, event: GivenEvent | null): string {
  return `${commit}/${prepare}/${event?.revision ?? 0}/${event?.id ?? ''}/${event?.stream ?? ''}`;
}

/** Null if the text is no position of ours. */
export function fromPosition(position: string): Mark | null {
  const [, commit, prepare, revision, id, stream = ''] = FORM.exec(position) ?? [];
  if (commit === undefined || prepare === undefined || id === undefined) return null;
  const place = { commit: BigInt(commit), prepare: BigInt(prepare) };
  return { place, event: id === '' ? null : { stream, revision: Number(revision), id } };
}

export function isAtOrAfter(place: Position, other: Position): boolean {
  return place.commit > other.commit || (place.commit === other.commit && place.prepare >= other.prepare);
}
