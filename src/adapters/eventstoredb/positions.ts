/**
 * A position is `<commit>/<prepare>/<event id>`: places in the server's log, and what stood there. A store that was
 * restored from a backup may have those places with another event in it, or not at all.
 */
import type { Position } from '@eventstore/db-client';

const FORM = /^(\d+)\/(\d+)\/(.+)$/;

export interface EventPlace {
  readonly position: Position;
  readonly eventId: string;
}

export function toPosition({ commit, prepare }: Position, eventId: string): string {
  return `${commit}/${prepare}/${eventId}`;
}

/** Null for what is no position of ours. */
export function fromPosition(position: string): EventPlace | null {
  const [, commit, prepare, eventId] = FORM.exec(position) ?? [];
  if (!commit || !prepare || !eventId) return null;
  return { position: { commit: BigInt(commit), prepare: BigInt(prepare) }, eventId };
}
