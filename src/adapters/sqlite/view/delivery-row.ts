/** A delivery as a row of the view, and how entries form it. */
import type { ViewEntry } from '../../../ports/deliveries-view.js';
import {
  type DeliveryFold,
  type DeliveryStatus,
  OUTCOMES,
  type Outcome,
  statusOf,
  type WaitingFor,
  withStatus,
} from '../../../ports/delivery-order.js';
import { escaped, writer } from './schema.js';

/**
 * As stored. atOnce: delivered at its first attempt, and not asked for again. held and removed: exhausted and cancelled ones
 * of their kind. Those after the first are the ones that people look for; they stay where the view becomes too large.
 */
export const STATE = {
  atOnce: 0,
  delivered: 1,
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
  readonly waitingFor: WaitingFor | null;
  readonly step: number | null;
}

/** row null: it is new. */
export type DeliveryRow = Readonly<
  Record<'accountId' | 'webhookId' | 'firstAt' | 'state' | 'asked' | 'progressed' | 'lastState', number> &
    Record<'triedAt' | 'status', number> &
    Record<'id' | 'webhookEvent' | 'error', string> &
    Record<'row', number | null> &
    Record<'given', string | null> &
    Omit<Said, 'state' | 'outcome'>
>;

export const putDelivery = writer(
  'deliveries',
  ['event', 'accountId', 'webhookId', 'firstAt', 'id', 'webhookEvent'],
  [
    ...(['state', 'triedAt', 'status', 'error', 'asked', 'progressed', 'lastState'] as const),
    ...(['chain', 'attempts', 'at', 'nextAttemptAt', 'waitingFor', 'step', 'given'] as const),
  ],
);

/** @param known null: it is the first entry of its delivery */
export function withEntry(known: DeliveryRow | null, entry: ViewEntry): DeliveryRow {
  const { chain, attempts, outcome, accountId, webhookId, firstAt, id, webhookEvent } = entry;
  const { asked, progressed, ...tried } = known ?? { asked: 0, progressed: 0, triedAt: 0, status: 0, error: '' };
  const fold = withStatus(known ? foldIn(known) : undefined, saidBy(entry));
  const { outcome: _, state: lastState, ...last } = fold.last;
  const row = {
    ...{ row: known?.row ?? null, accountId, webhookId, firstAt, id, webhookEvent },
    ...{ ...lastTried(tried, entry), ...last, lastState, given: fold.givenUp && JSON.stringify(fold.givenUp) },
    asked: outcome === 'cancelled' ? asked : Math.max(asked, chain),
    progressed: attempts > 0 || outcome !== 'retrying' ? Math.max(progressed, chain) : progressed,
  };
  const { state } = statusOf(fold);
  return { ...row, state: state === STATE.delivered && wasAtOnce(row) ? STATE.atOnce : state };
}

/** When what holds was published. @throws SyntaxError if the view is damaged */
export function toldAt(row: DeliveryRow): number {
  return statusOf(foldIn(row)).at;
}

function foldIn({ lastState: state, given, ...row }: DeliveryRow): DeliveryFold<Said> {
  const { chain, attempts, at, nextAttemptAt, waitingFor, step } = row;
  const last = { state, outcome: outcomeOf(state), chain, attempts, at, nextAttemptAt, waitingFor, step };
  return { last, givenUp: given === null ? null : (JSON.parse(given) as Said) };
}

type Row = Pick<DeliveryRow, 'attempts' | 'chain' | 'asked' | 'given' | 'status'>;

function wasAtOnce({ attempts, chain, asked, given, status }: Row): boolean {
  return attempts === 1 && chain === 0 && asked === 0 && given === null && isSuccess(status);
}

type Tried = Pick<DeliveryRow, 'triedAt' | 'status' | 'error'>;

/** In the order of attempts: by time, status and error. */
function lastTried({ triedAt, status, error }: Tried, { attempt }: ViewEntry): Tried {
  const known = { triedAt, status, error };
  if (!attempt) return known;
  const tried = { triedAt: timeOf(attempt.at), status: attempt.status ?? 0, error: escaped(attempt.error) ?? '' };
  const isLater = tried.triedAt - triedAt || tried.status - status || Number(tried.error > error) - 0.5;
  return isLater > 0 ? tried : known;
}

/** An entry may have any text with the form of a time. */
export function timeOf(at: string): number {
  return Date.parse(at) || 0;
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
