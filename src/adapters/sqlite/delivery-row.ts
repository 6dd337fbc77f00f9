/** A delivery as a row of the view's file, and how entries form it. */
import type { DeliveryDetail, ViewAttempt, ViewEntry, ViewedDelivery } from '../../ports/deliveries-view.js';
import {
  type DeliveryFold,
  type DeliveryStatus,
  OUTCOMES,
  type Outcome,
  REMOVAL,
  statusOf,
  type WaitingFor,
  withStatus,
} from '../../ports/delivery-order.js';

/** A state is the index of its outcome in OUTCOMES; held and removed are exhausted and cancelled ones, with states of their own. */
export const DELIVERED = OUTCOMES.indexOf('delivered');
export const RETRYING = OUTCOMES.indexOf('retrying');
export const EXHAUSTED = OUTCOMES.indexOf('exhausted');
export const CANCELLED = OUTCOMES.indexOf('cancelled');
export const HELD = OUTCOMES.length;
/** The removal of its webhook ended the delivery. */
export const REMOVED = HELD + 1;
export const STATES = [...OUTCOMES.keys(), HELD, REMOVED];

/** What an entry says of the outcome. */
interface Said {
  readonly state: number;
  readonly next_at: string | null;
  readonly waiting_for: WaitingFor | null;
  readonly step: number | null;
  readonly chain: number;
  /** Attempts of the chain. */
  readonly made: number;
  /** When the entry was published. */
  readonly said_at: number;
}

/** It has what is said of the outcome by the entry that holds (delivery-order.ts). */
export interface DeliveryRow extends Said {
  readonly account_id: number;
  readonly webhook_id: number;
  /** When its payment was published, ms since the epoch. */
  readonly first_at: number;
  readonly id: string;
  readonly webhook_event: string;
  /** Said as JSON, by the other entry that the fold keeps: the last one where what was given up holds, else the given up one. */
  readonly beside: string | null;
  /** StoredAgain as JSON; null: it was never requested. */
  readonly again: string | null;
  /** When the last entry was published: forget goes by this. */
  readonly last_at: number;
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
  /** As JSON. */
  readonly event_source: string | null;
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

/** Chains above 0: the last one of which an attempt or an end is known, then those that were requested. */
type StoredAgain = readonly [progressed: number, ...requested: number[]];
const NEVER: StoredAgain = [0];

/** The row of a delivery with only this entry. */
export function rowOf(entry: ViewEntry): DeliveryRow {
  const { accountId, webhookId, firstAt, id, webhookEvent, attempt, place } = entry;
  // One literal: one is made for every entry.
  return {
    account_id: accountId,
    webhook_id: webhookId,
    first_at: firstAt,
    id,
    webhook_event: webhookEvent,
    state: stateOf(entry),
    next_at: entry.nextAttemptAt,
    waiting_for: entry.waitingFor,
    step: entry.step,
    chain: entry.chain,
    made: entry.attempts,
    said_at: place.timestamp,
    beside: null,
    again: withChain(null, entry),
    last_at: place.timestamp,
    answer: answerOf(attempt?.status ?? null),
    error: attempt?.error ?? null,
    attempts: attempt ? JSON.stringify([stored(attempt)]) : '[]',
  };
}

export function withEntry(known: DeliveryRow, entry: ViewEntry): DeliveryRow {
  const added = rowOf(entry);
  return {
    ...known,
    ...withSaid(known, added),
    ...(entry.attempt ? withAttempt(known, entry.attempt) : null),
    again: withChain(known.again, entry),
    last_at: Math.max(known.last_at, added.last_at),
  };
}

interface RowStatus extends DeliveryStatus {
  readonly said: Said;
}

function withSaid(known: DeliveryRow, added: Said): Said & Pick<DeliveryRow, 'beside'> {
  const fold = withStatus(foldOf(known), statusIn(added));
  const holds = statusOf(fold);
  const other = holds === fold.last ? fold.givenUp : fold.last;
  return { ...holds.said, beside: other && other !== holds ? JSON.stringify(other.said) : null };
}

function foldOf(row: DeliveryRow): DeliveryFold<RowStatus> {
  const holds = statusIn(row);
  const other = row.beside === null ? null : statusIn(JSON.parse(row.beside) as Said);
  return holds.outcome === 'exhausted' ? { last: other ?? holds, givenUp: holds } : { last: holds, givenUp: other };
}

/** The text that breaks ties has all that is kept: what is said must not depend on the order of entries. */
function statusIn({ state, next_at, waiting_for, step, chain, made, said_at }: Said): RowStatus {
  const said = { state, next_at, waiting_for, step, chain, made, said_at };
  return {
    outcome: outcomeOf(state),
    chain,
    attempts: made,
    at: said_at,
    nextAttemptAt: `${next_at} ${waiting_for} ${state} ${step}`,
    said,
  };
}

function withChain(known: string | null, { chain, attempts, outcome }: ViewEntry): string | null {
  if (chain === 0) return known;
  const [progressed, ...requested] = againIn({ again: known });
  const isWaiting = outcome === 'retrying' && attempts === 0;
  const all = outcome === 'cancelled' ? requested : [...new Set([...requested, chain])];
  return again(isWaiting ? progressed : Math.max(progressed, chain), all);
}

function again(progressed: number, requested: readonly number[]): string {
  return JSON.stringify([progressed, ...requested.toSorted((one, other) => one - other)] satisfies StoredAgain);
}

function againIn({ again: known }: Pick<DeliveryRow, 'again'>): StoredAgain {
  return known === null ? NEVER : (JSON.parse(known) as StoredAgain);
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
export function removed<Row extends Pick<DeliveryRow, 'state'> & { readonly again?: string | null }>(row: Row): Row {
  const [, ...requested] = againIn({ again: row.again ?? null });
  const state = row.state === RETRYING ? REMOVED : row.state;
  return { ...row, state, next_at: null, waiting_for: null, again: again(Number.MAX_SAFE_INTEGER, requested) };
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
  const { id, webhook_id: webhookId, event_type: eventType, first_at: firstAt, state } = row;
  const eventId = JSON.parse(row.event_id) as string;
  const about = { id, webhookId, eventId, eventType, firstAt, endedBy: state === REMOVED ? REMOVAL : null };
  const wait = { nextAttemptAt: row.next_at, waitingFor: row.waiting_for };
  return { ...about, ...wait, outcome: outcomeOf(state), attempts: attemptsOf(row), held: state === HELD };
}

export function detailOf(row: StoredDelivery, responses: ReadonlyMap<string, string>): DeliveryDetail {
  const { account_id: accountId, webhook_event: webhookEvent, step, routed_at: routedAt, event_source: source } = row;
  const [progressed, ...requested] = againIn(row);
  const hadEnded = row.state === DELIVERED || row.beside !== null;
  const sentAgain = hadEnded && (requested.at(-1) ?? 0) > progressed;
  const eventSource = source === null ? null : (JSON.parse(source) as string);
  const about = { accountId, eventSource, payment: row.payment || null, webhookEvent, step };
  return { ...deliveryOf(row), ...about, requests: requested.length, sentAgain, routedAt, responses };
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
