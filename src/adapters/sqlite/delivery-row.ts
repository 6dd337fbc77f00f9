/** A delivery as a row of the view's file, and how entries form it. */
import type { ViewAttempt, ViewEntry, ViewedDelivery } from '../../ports/deliveries-view.js';
import { type Outcome, outranks, type Said } from '../../ports/delivery-order.js';

export interface DeliveryRow {
  /** Its number, in order of arrival. */
  readonly row: number;
  readonly webhook_id: number;
  readonly id: string;
  /** As JSON: it may contain a lone surrogate, which UTF-8 can't encode. */
  readonly event_id: string;
  readonly event_type: string;
  /** When its payment was published, ms since the epoch. */
  readonly first_at: number;
  /** From the entry that outranks all others: its content, its turn, and when it was published. */
  readonly outcome: Outcome;
  readonly next_at: string | null;
  readonly turn: number;
  readonly said_at: number;
  /** When the last entry was published: forget goes by this. */
  readonly last_at: number;
  /** StoredAttempt[] as JSON, sorted by start. */
  readonly attempts: string;
}

/** Starts with the sort key. An array, because one is written for every attempt. */
type StoredAttempt = readonly [
  at: string,
  status: number | null,
  error: string | null,
  durationMs: number,
  version: number,
  /** Of an error. */
  reason?: string | null,
];

/** The row of a delivery with only this entry. */
export function rowOf(entry: ViewEntry): Omit<DeliveryRow, 'row'> {
  const { webhookId, id, eventId, eventType, firstAt, attempt, place } = entry;
  return {
    webhook_id: webhookId,
    id,
    event_id: JSON.stringify(eventId),
    event_type: eventType,
    first_at: firstAt,
    ...saying(saidBy(entry)),
    last_at: place.timestamp,
    attempts: attempt ? JSON.stringify([stored(attempt)]) : '[]',
  };
}

export function withEntry(row: DeliveryRow, entry: ViewEntry): DeliveryRow {
  const { attempt, place } = entry;
  const merged = {
    ...row,
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

/** @throws SyntaxError if the row is damaged */
export function deliveryOf(row: DeliveryRow): ViewedDelivery {
  const { id, webhook_id: webhookId, event_type: eventType, first_at: firstAt, outcome, next_at: nextAttemptAt } = row;
  const eventId = JSON.parse(row.event_id) as string;
  return { id, webhookId, eventId, eventType, firstAt, outcome, attempts: attemptsOf(row), nextAttemptAt, held: false };
}

/** @throws SyntaxError if the row is damaged */
export function attemptsOf({ attempts }: Pick<DeliveryRow, 'attempts'>): ViewAttempt[] {
  return (JSON.parse(attempts) as StoredAttempt[]).map(attemptOf);
}

/** ISO 8601 times in UTC sort as text. */
function withAttempt(json: string, added: StoredAttempt): string {
  const attempts = (JSON.parse(json) as StoredAttempt[]).map((attempt) => JSON.stringify(attempt));
  return `[${[...new Set([...attempts, JSON.stringify(added)])].sort().join()}]`;
}

function stored({ at, status, error, reason, durationMs, version }: ViewAttempt): StoredAttempt {
  const made = [at, status, error, durationMs, version] as const;
  return reason === undefined ? made : [...made, reason];
}

function attemptOf([at, status, error, durationMs, version, reason]: StoredAttempt): ViewAttempt {
  return { at, status, error, ...(reason !== undefined && { reason }), durationMs, version };
}
