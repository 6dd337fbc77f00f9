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
import { escaped, type Row, upsert } from './schema.js';

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
  readonly partition: number;
  readonly step: number | null;
}

/** Columns of a maximum. */
const SAID = [
  ...(['state', 'chain', 'attempts', 'at', 'partition'] as const),
  ...(['nextAttemptAt', 'waitingFor', 'step'] as const),
];
type Maximum<Of extends string> = { readonly [Name in (typeof SAID)[number] as `${Of}_${Name}`]: Said[Name] | null };

/** Of the last attempt. */
type Tried = Row<'triedAt' | 'status', 'error'>;

export interface Folded extends Tried {
  readonly fold: DeliveryFold<Said>;
  /** The last chain above 0 of which an attempt or an end is known; null: none is. */
  readonly progressed: number | null;
  /** Chains above 0 of which something other than a cancellation is known. */
  readonly requested: readonly number[];
  readonly toldAt: number;
}

export type DeliveryRow = Row<'row' | 'webhookId' | 'state' | 'toldAt', 'id', 'requested', 'progressed'> &
  Tried &
  Maximum<'last'> &
  Maximum<'given'>;

const FIXED = ['event', 'accountId', 'webhookId', 'firstAt', 'id', 'webhookEvent'];
const CHANGING = [
  ...['state', 'triedAt', 'status', 'error', 'progressed', 'requested', 'toldAt'],
  ...['last', 'given'].flatMap((of) => SAID.map((name) => `${of}_${name}`)),
];
export const PUT_DELIVERY = upsert('deliveries', ['row'], CHANGING, FIXED);
export const DELIVERIES_OF = `SELECT row, webhookId, id, ${CHANGING.join()} FROM deliveries WHERE event = ?`;

/** Values of PUT_DELIVERY. @param row null: it is new @param event its row */
export function deliveryValues(row: number | null, event: number, entry: ViewEntry, folded: Folded): Value[] {
  const { accountId, webhookId, firstAt, id, webhookEvent } = entry;
  const { fold, triedAt, status, error, progressed, requested, toldAt } = folded;
  const chains = requested.length === 0 ? null : JSON.stringify(requested);
  return [
    ...[row, event, accountId, webhookId, firstAt, id, webhookEvent],
    ...[stateOf(folded), triedAt, status, error, progressed, chains, toldAt],
    ...SAID.map((name) => fold.last[name] ?? null),
    ...SAID.map((name) => fold.givenUp?.[name] ?? null),
  ];
}

export function foldedIn(row: DeliveryRow): Folded {
  return {
    ...row,
    fold: { last: saidIn(row, 'last') as Said, givenUp: saidIn(row, 'given') },
    requested: requestedIn(row),
  };
}

export function requestedIn({ requested }: Pick<DeliveryRow, 'requested'>): readonly number[] {
  return requested === null ? [] : (JSON.parse(requested) as number[]);
}

function saidIn(row: DeliveryRow, of: 'last' | 'given'): Said | null {
  const state = row[`${of}_state`];
  const said = Object.fromEntries(SAID.map((name) => [name, row[`${of}_${name}`]])) as unknown as Said;
  return state === null ? null : { ...said, outcome: outcomeOf(state) };
}

const NEVER: Tried = { triedAt: 0, status: 0, error: '' };

export function withEntry(known: Folded | null, entry: ViewEntry): Folded {
  const { chain, attempts, outcome, place } = entry;
  const { fold, progressed = null, requested = [], toldAt = 0 } = known ?? {};
  const isBegun = chain > 0 && (attempts > 0 || outcome !== 'retrying');
  const isNew = chain > 0 && outcome !== 'cancelled' && !requested.includes(chain);
  const { triedAt, status, error } = lastTried(known ?? NEVER, entry);
  return {
    fold: withStatus(fold, saidBy(entry)),
    progressed: isBegun ? Math.max(progressed ?? 0, chain) : progressed,
    requested: isNew ? [...requested, chain].sort((one, other) => one - other) : requested,
    toldAt: Math.max(toldAt, place.timestamp),
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

function saidBy(entry: ViewEntry): Said {
  const { outcome, chain, attempts, place } = entry;
  const isWaiting = outcome === 'retrying';
  return {
    state: saidState(entry),
    outcome,
    chain,
    attempts,
    at: place.timestamp,
    partition: place.partition,
    nextAttemptAt: isWaiting ? entry.nextAttemptAt : null,
    waitingFor: isWaiting ? entry.waitingFor : null,
    step: isWaiting ? entry.step : null,
  };
}

function saidState({ outcome, held, endedBy }: ViewEntry): number {
  if (!OUTCOMES.includes(outcome)) throw new TypeError('an entry has no outcome');
  if (outcome === 'exhausted' && held) return STATE.held;
  return outcome === 'cancelled' && endedBy !== null ? STATE.removed : STATE[outcome];
}
