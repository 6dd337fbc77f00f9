/** A delivery as a row of the view's file, and how entries form it. */
import type { DeliveryDetail, ViewAttempt, ViewEntry, ViewedDelivery } from '../../ports/deliveries-view.js';
import { type EndBefore, OUTCOMES, type Outcome, outranks, REMOVAL, type Said } from '../../ports/delivery-order.js';

/** A state is the index of its outcome in OUTCOMES; held and removed are exhausted and cancelled ones, with states of their own. */
export const DELIVERED = OUTCOMES.indexOf('delivered');
export const RETRYING = OUTCOMES.indexOf('retrying');
export const EXHAUSTED = OUTCOMES.indexOf('exhausted');
export const CANCELLED = OUTCOMES.indexOf('cancelled');
export const HELD = OUTCOMES.length;
/** The removal of its webhook ended the delivery. */
export const REMOVED = HELD + 1;
export const STATES = [...OUTCOMES.keys(), HELD, REMOVED];

export interface DeliveryRow {
  readonly account_id: number;
  readonly webhook_id: number;
  /** When its payment was published, ms since the epoch. */
  readonly first_at: number;
  readonly id: string;
  readonly webhook_event: string;
  /** From the entry that outranks all others: its content, its turn, and when it was published. */
  readonly state: number;
  readonly next_at: string | null;
  readonly step: number | null;
  readonly turn: number;
  readonly said_at: number;
  /** The highest turn of all entries: a delivered delivery that is resent has later ones. */
  readonly last_turn: number;
  /** When the last entry was published: forget goes by this. */
  readonly last_at: number;
  /** From the entry of the highest turn that names one. */
  readonly recovery: string | null;
  readonly recovery_turn: number | null;
  /** StoredBefore as JSON, from the entry of the highest turn that names one. */
  readonly before: string | null;
  /** The first digit of the last attempt's status; 0: none came. */
  readonly answer: number;
  /** Of the last attempt. */
  readonly error: string | null;
  /** StoredAttempt[] as JSON, sorted by start. */
  readonly attempts: string;
}

export interface StoredDelivery extends DeliveryRow {
  readonly row: number;
  /** As JSON: it may contain a lone surrogate, which UTF-8 can't encode. */
  readonly event_id: string;
  readonly event_type: string;
  /** Empty of an event that no payment place is known of. */
  readonly payment: string;
  readonly routed_at: number | null;
}

/** Starts with the sort key. An array, because one is written for every attempt. */
type StoredAttempt = readonly [
  at: string,
  status: number | null,
  error: string | null,
  durationMs: number,
  version: number,
  more?: Pick<ViewAttempt, 'reason' | 'trigger' | 'actor'>,
];

/** Starts with the turn of its entry; `waits`: not of one that cancels. */
type StoredBefore = readonly [turn: number, before: EndBefore, waits: boolean];

/** The row of a delivery with only this entry. */
export function rowOf(entry: ViewEntry): DeliveryRow {
  const { accountId, webhookId, firstAt, id, webhookEvent, attempt, turn, place, recovery } = entry;
  return {
    account_id: accountId,
    webhook_id: webhookId,
    first_at: firstAt,
    id,
    webhook_event: webhookEvent,
    state: stateOf(entry),
    next_at: entry.nextAttemptAt,
    step: entry.step,
    turn,
    said_at: place.timestamp,
    last_turn: turn,
    last_at: place.timestamp,
    recovery,
    recovery_turn: recovery === null ? null : turn,
    before: entry.before && JSON.stringify([turn, entry.before, entry.outcome === 'retrying'] satisfies StoredBefore),
    answer: answerOf(attempt?.status ?? null),
    error: attempt?.error ?? null,
    attempts: attempt ? JSON.stringify([stored(attempt)]) : '[]',
  };
}

export function withEntry(known: DeliveryRow, entry: ViewEntry): DeliveryRow {
  const added = rowOf(entry);
  return {
    ...known,
    ...(decides(added, known) ? decided(added) : null),
    ...(entry.attempt ? withAttempt(known, entry.attempt) : null),
    ...(isLaterRecovery(added, known) ? { recovery: added.recovery, recovery_turn: added.recovery_turn } : null),
    before: laterBefore(known.before, added.before),
    last_turn: Math.max(known.last_turn, added.last_turn),
    last_at: Math.max(known.last_at, added.last_at),
  };
}

function stateOf({ outcome, held, endedBy }: Pick<ViewEntry, 'outcome' | 'held' | 'endedBy'>): number {
  if (outcome === 'exhausted' && held) return HELD;
  if (outcome === 'cancelled' && endedBy !== null) return REMOVED;
  const state = OUTCOMES.indexOf(outcome);
  if (state < 0) throw new TypeError('an entry has no outcome');
  return state;
}

export function outcomeOf(state: number): Outcome {
  return OUTCOMES[state] ?? (state === REMOVED ? 'cancelled' : 'exhausted');
}

/** As after the removal of its webhook: what waits has ended, before a dispatcher reports it. */
export function removed<Row extends Pick<DeliveryRow, 'state'>>(row: Row): Row {
  return { ...row, state: row.state === RETRYING ? REMOVED : row.state, next_at: null, before: null };
}

/** Entries that are equal in the order of outcomes differ in nothing that an account sees, but the answer must not depend on their order. */
function decides(one: DeliveryRow, other: DeliveryRow): boolean {
  const [said, known] = [saidBy(one), saidBy(other)];
  if (outranks(said, known)) return true;
  return !outranks(known, said) && `${one.state} ${one.step}` > `${other.state} ${other.step}`;
}

function saidBy({ state, turn, said_at: at, next_at: nextAttemptAt }: DeliveryRow): Said {
  return { outcome: outcomeOf(state), turn, at, nextAttemptAt };
}

function decided({ state, next_at, step, turn, said_at }: DeliveryRow) {
  return { state, next_at, step, turn, said_at };
}

function isLaterRecovery(one: DeliveryRow, other: DeliveryRow): boolean {
  if (one.recovery === null) return false;
  const turns = (one.recovery_turn ?? 0) - (other.recovery_turn ?? -1);
  return turns > 0 || (turns === 0 && one.recovery > (other.recovery ?? ''));
}

function laterBefore(one: string | null, other: string | null): string | null {
  if (one === null || other === null) return one ?? other;
  const turns = turnOf(one) - turnOf(other);
  return turns > 0 || (turns === 0 && one > other) ? one : other;
}

function turnOf(before: string): number {
  return (JSON.parse(before) as StoredBefore)[0];
}

/** ISO 8601 times in UTC sort as text. */
function withAttempt({ attempts }: DeliveryRow, added: ViewAttempt) {
  const known = (JSON.parse(attempts) as StoredAttempt[]).map((attempt) => JSON.stringify(attempt));
  const all = [...new Set([...known, JSON.stringify(stored(added))])].sort();
  const [, status, error] = JSON.parse(all.at(-1) ?? '[]') as StoredAttempt;
  return { attempts: `[${all.join()}]`, answer: answerOf(status), error };
}

function answerOf(status: number | null): number {
  return status === null ? 0 : Math.floor(status / 100);
}

export function deliveryOf(row: StoredDelivery): ViewedDelivery {
  const { id, webhook_id: webhookId, event_type: eventType, first_at: firstAt, state, next_at: nextAttemptAt } = row;
  const eventId = JSON.parse(row.event_id) as string;
  const about = { id, webhookId, eventId, eventType, firstAt, endedBy: state === REMOVED ? REMOVAL : null };
  return { ...about, outcome: outcomeOf(state), attempts: attemptsOf(row), nextAttemptAt, held: state === HELD };
}

export function detailOf(row: StoredDelivery, responses: ReadonlyMap<string, string>): DeliveryDetail {
  const { account_id: accountId, last_turn: turn, webhook_event: webhookEvent, step, routed_at: routedAt } = row;
  const [beforeTurn, before, waits] = JSON.parse(row.before ?? '[-1, null, false]') as StoredBefore;
  const isLast = beforeTurn === turn;
  const again = { before: isLast ? before : null, sentAgain: isLast && waits };
  const payment = row.payment || null;
  const about = { accountId, turn, payment, webhookEvent, step, ...again };
  return { ...deliveryOf(row), ...about, routedAt, responses };
}

export function attemptsOf({ attempts }: Pick<DeliveryRow, 'attempts'>): ViewAttempt[] {
  return (JSON.parse(attempts) as StoredAttempt[]).map(attemptOf);
}

function stored({ at, status, error, reason, durationMs, version, trigger, actor }: ViewAttempt): StoredAttempt {
  const made = [at, status, error, durationMs, version] as const;
  const isMore = reason !== undefined || trigger !== undefined || actor !== undefined;
  return isMore ? [...made, { reason, trigger, actor } as NonNullable<StoredAttempt[5]>] : made;
}

function attemptOf([at, status, error, durationMs, version, more]: StoredAttempt): ViewAttempt {
  return { at, status, error, ...more, durationMs, version };
}
