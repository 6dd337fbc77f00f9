/** A delivery as a row of the view's file, and how entries make it. */
import type { ViewAttempt, ViewEntry, ViewedDelivery } from '../../ports/deliveries-view.js';
import { type Outcome, outranks, type Said } from '../../ports/delivery-order.js';

export interface DeliveryRow {
  readonly id: string;
  /** As JSON: it may hold half a surrogate pair, which UTF-8 can't. */
  readonly event_id: string;
  /** Of the first entry, ms since the epoch. */
  readonly first_at: number;
  /** What the entry says that outranks all others, its turn, and when it was published. */
  readonly outcome: Outcome;
  readonly next_at: string | null;
  readonly turn: number;
  readonly said_at: number;
  /** When the last entry was published: it is forgotten by that. */
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
export function rowOf(entry: ViewEntry): DeliveryRow {
  const { id, eventId, attempt, place } = entry;
  return {
    id,
    event_id: JSON.stringify(eventId),
    first_at: place.timestamp,
    ...saying(saidBy(entry)),
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
    last_at: Math.max(row.last_at, place.timestamp),
    attempts: attempt ? withAttempt(row.attempts, stored(attempt)) : row.attempts,
  };
  const known: Said = { outcome: row.outcome, turn: row.turn, at: row.said_at, nextAttemptAt: row.next_at };
  const said = saidBy(entry);
  return outranks(said, known) ? { ...merged, ...saying(said) } : merged;
}

function saidBy({ outcome, turn, nextAttemptAt, place }: ViewEntry): Said {
  return { outcome, turn, at: place.timestamp, nextAttemptAt };
}

function saying({ outcome, turn, at, nextAttemptAt }: Said) {
  return { outcome, next_at: nextAttemptAt, turn, said_at: at };
}

/** @throws SyntaxError where the row is damaged */
export function deliveryOf({ id, event_id, outcome, next_at: nextAttemptAt, attempts }: DeliveryRow): ViewedDelivery {
  const eventId = JSON.parse(event_id) as string;
  const made = JSON.parse(attempts) as StoredAttempt[];
  return { id, eventId, outcome, attempts: made.map(attemptOf), nextAttemptAt };
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
