/** A delivery as a row of the view, and how entries form it. */
import type { ViewEntry } from '../../../ports/deliveries-view.js';
import {
  type DeliveryFold,
  type DeliveryStatus,
  OUTCOMES,
  type Outcome,
  statusOf,
  withStatus,
} from '../../../ports/delivery-order.js';
import type { Value } from '../statements.js';
import { escaped, upsert } from './schema.js';

/**
 * As stored. refused: delivered, and the last attempt, a later one, was not answered 2xx. held and removed: exhausted and
 * cancelled ones of their kind. Those after the first are the ones that people look for.
 */
export const STATE = {
  delivered: 0,
  refused: 1,
  retrying: 2,
  exhausted: 3,
  held: 4,
  cancelled: 5,
  removed: 6,
} as const;
export const STATES: readonly number[] = Object.values(STATE);

const OUTCOME_OF: readonly Outcome[] = [
  ...(['delivered', 'delivered', 'retrying', 'exhausted', 'exhausted', 'cancelled', 'cancelled'] as const),
];

/** What an entry says; step is of a waiting delivery. */
interface Said extends DeliveryStatus {
  readonly state: number;
  readonly step: number | null;
}

/** Columns of the two maxima: what was given up waits for nothing. */
const GIVEN = ['state', 'chain', 'attempts', 'at'] as const;
const LAST = [...GIVEN, 'nextAttemptAt', 'waitingFor', 'step'] as const;

/** Of the last attempt. */
type Tried = Readonly<Record<'triedAt' | 'status', number> & Record<'error', string>>;

export interface Folded extends Tried {
  readonly fold: DeliveryFold<Said>;
  /** The last chain above 0 of which an attempt or an end is known; null: none is. */
  readonly progressed: number | null;
}

export type DeliveryRow = Tried &
  Readonly<
    Record<'row' | 'webhookId' | 'state', number> & Record<'id', string> & Record<'progressed', number | null>
  > & {
    readonly [Name in (typeof LAST)[number] as `last_${Name}`]: Said[Name];
  } & { readonly [Name in (typeof GIVEN)[number] as `given_${Name}`]: Said[Name] | null };

const FIXED = ['event', 'accountId', 'webhookId', 'firstAt', 'id', 'webhookEvent'];
const CHANGING = [
  ...['state', 'triedAt', 'status', 'error', 'progressed'],
  ...[...LAST.map((name) => `last_${name}`), ...GIVEN.map((name) => `given_${name}`)],
];
export const PUT_DELIVERY = upsert('deliveries', ['row'], CHANGING, FIXED);
export const DELIVERIES_OF = `SELECT row, webhookId, id, ${CHANGING.join()} FROM deliveries WHERE event = ?`;

/** Values of PUT_DELIVERY. @param row null: it is new @param event its row */
export function deliveryValues(row: number | null, event: number, entry: ViewEntry, folded: Folded): Value[] {
  const { accountId, webhookId, firstAt, id, webhookEvent } = entry;
  const { fold, triedAt, status, error, progressed } = folded;
  return [
    ...[row, event, accountId, webhookId, firstAt, id, webhookEvent],
    ...[stateOf(folded), triedAt, status, error, progressed],
    ...[...LAST.map((name) => fold.last[name] ?? null), ...GIVEN.map((name) => fold.givenUp?.[name] ?? null)],
  ];
}

export function foldedIn(row: DeliveryRow): Folded {
  return { ...row, fold: { last: saidIn(row, 'last') as Said, givenUp: saidIn(row, 'given') } };
}

function saidIn(row: DeliveryRow, of: 'last' | 'given'): Said | null {
  const state = row[`${of}_state`];
  if (state === null) return null;
  const stored: Readonly<Record<string, unknown>> = row;
  const said = Object.fromEntries(LAST.map((name) => [name, stored[`${of}_${name}`] ?? null]));
  return { ...(said as unknown as Said), outcome: outcomeOf(state) };
}

const NEVER: Tried = { triedAt: 0, status: 0, error: '' };

export function withEntry(known: Folded | null, entry: ViewEntry): Folded {
  const { chain, attempts, outcome } = entry;
  const { fold, progressed = null } = known ?? {};
  const isBegun = chain > 0 && (attempts > 0 || outcome !== 'retrying');
  const { triedAt, status, error } = lastTried(known ?? NEVER, entry);
  return {
    fold: withStatus(fold, saidBy(entry)),
    progressed: isBegun ? Math.max(progressed ?? 0, chain) : progressed,
    triedAt,
    status,
    error,
  };
}

/** In the order of attempts: by time, status and error. */
function lastTried(known: Tried, { attempt }: ViewEntry): Tried {
  if (!attempt) return known;
  const tried = { triedAt: timeOf(attempt.at), status: attempt.status ?? 0, error: escaped(attempt.error) ?? '' };
  const isLater =
    tried.triedAt - known.triedAt || tried.status - known.status || Number(tried.error > known.error) - 0.5;
  return isLater > 0 ? tried : known;
}

/** An entry may have any text with the form of a time. */
export function timeOf(at: string): number {
  return Date.parse(at) || 0;
}

export function stateOf({ fold, status }: Folded): number {
  const { state } = statusOf(fold);
  return state === STATE.delivered && !isSuccess(status) ? STATE.refused : state;
}

export function isSuccess(status: number | null): boolean {
  return status !== null && Math.floor(status / 100) === 2;
}

/** @throws SyntaxError if the view is damaged */
export function outcomeOf(state: number): Outcome {
  const outcome = OUTCOME_OF[state];
  if (outcome === undefined) throw new SyntaxError(`no state of a delivery: ${state}`);
  return outcome;
}

function saidBy({ outcome, held, endedBy, chain, attempts, place, ...entry }: ViewEntry): Said {
  if (!OUTCOMES.includes(outcome)) throw new TypeError('an entry has no outcome');
  const isRemoved = outcome === 'cancelled' && endedBy !== null;
  const state = outcome === 'exhausted' && held ? STATE.held : isRemoved ? STATE.removed : STATE[outcome];
  const { nextAttemptAt, waitingFor, step } = outcome === 'retrying' ? entry : NO_WAIT;
  return { state, outcome, chain, attempts, at: place.timestamp, nextAttemptAt, waitingFor, step };
}

const NO_WAIT = { nextAttemptAt: null, waitingFor: null, step: null };
