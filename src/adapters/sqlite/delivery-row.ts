/** A delivery as a row of the view's file, and how entries make it. */
import type { EntryPlace, ViewAttempt, ViewEntry, ViewedDelivery, ViewOutcome } from '../../ports/deliveries-view.js';

export interface DeliveryRow {
  readonly id: string;
  /** As JSON: it may hold half a surrogate pair, which UTF-8 can't. */
  readonly event_id: string;
  /** Of the first entry, ms since the epoch. */
  readonly first_at: number;
  readonly outcome: ViewOutcome;
  readonly next_at: string | null;
  /** The place of the entry that the outcome is from. */
  readonly partition: number;
  readonly offset: number;
  readonly last_at: number;
  /** StoredAttempt[] as JSON, in the order in which they began. */
  readonly attempts: string;
}

/** Begins with what they are sorted by; an array, for one is written for every attempt that is made. */
type StoredAttempt = readonly [
  at: string,
  status: number | null,
  error: string | null,
  durationMs: number,
  version: number,
];

/** The row of a delivery of which this is the only entry. */
export function rowOf({ id, eventId, outcome, nextAttemptAt, attempt, place }: ViewEntry): DeliveryRow {
  return {
    id,
    event_id: JSON.stringify(eventId),
    first_at: place.timestamp,
    outcome,
    next_at: nextAttemptAt,
    partition: place.partition,
    offset: place.offset,
    last_at: place.timestamp,
    attempts: attempt ? JSON.stringify([stored(attempt)]) : '[]',
  };
}

/** The row with one entry more. */
export function withEntry(row: DeliveryRow, entry: ViewEntry): DeliveryRow {
  const { attempt, place } = entry;
  const merged = {
    ...row,
    first_at: Math.min(row.first_at, place.timestamp),
    attempts: attempt ? withAttempt(row.attempts, stored(attempt)) : row.attempts,
  };
  if (!isLater(place, row)) return merged;
  const { partition, offset, timestamp } = place;
  return { ...merged, outcome: entry.outcome, next_at: entry.nextAttemptAt, partition, offset, last_at: timestamp };
}

/** @throws SyntaxError where the row is damaged */
export function deliveryOf({ id, event_id, outcome, next_at: nextAttemptAt, attempts }: DeliveryRow): ViewedDelivery {
  const eventId = JSON.parse(event_id) as string;
  const made = JSON.parse(attempts) as StoredAttempt[];
  return { id, eventId, outcome, attempts: made.map(attemptOf), nextAttemptAt };
}

/** In a partition the offset tells: the clocks of those who publish may differ. */
function isLater({ partition, offset, timestamp }: EntryPlace, row: DeliveryRow): boolean {
  return partition === row.partition ? offset > row.offset : timestamp > row.last_at;
}

/** Times in ISO 8601 and UTC sort as text. */
function withAttempt(json: string, added: StoredAttempt): string {
  const attempts = (JSON.parse(json) as StoredAttempt[]).map((attempt) => JSON.stringify(attempt));
  return `[${[...new Set([...attempts, JSON.stringify(added)])].sort().join()}]`;
}

function stored({ at, status, error, durationMs, version }: ViewAttempt): StoredAttempt {
  return [at, status, error, durationMs, version];
}

function attemptOf([at, status, error, durationMs, version]: StoredAttempt): ViewAttempt {
  return { at, status, error, durationMs, version };
}
