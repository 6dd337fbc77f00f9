/** A delivery as a row of the view, and how entries form it. */
import type { ViewEntry, ViewedDelivery } from '../../../ports/deliveries-view.js';
import {
  type DeliveryFold,
  type DeliveryStatus,
  type Outcome,
  statusOf,
  withStatus,
} from '../../../ports/delivery-order.js';
import type { LoggedAttempt } from '../../../ports/log-entry.js';
import { escaped, offsetIn, unescaped, writer } from './schema.js';

/**
 * As stored. atOnce: delivered at its first attempt, and not asked for again. held and removed: exhausted and cancelled ones
 * of their kind. Those after the first are the ones that people look for; they stay where the view becomes too large.
 */
export const STATE = { atOnce: 0, delivered: 1, retrying: 2, exhausted: 3, held: 4, cancelled: 5, removed: 6 } as const;
export const STATES: readonly number[] = Object.values(STATE);

const OUTCOME_OF: readonly Outcome[] = [
  ...(['delivered', 'delivered', 'retrying', 'exhausted', 'exhausted', 'cancelled', 'cancelled'] as const),
];

/** How a waiting delivery waits; all fields are null unless it waits. */
type Wait = Pick<ViewedDelivery, 'nextAttemptAt' | 'waitingFor' | 'step'>;

/** The status that an entry reports. */
type EntryStatus = DeliveryStatus & Wait & { readonly state: number };

/** Chains: the last one of which something other than a cancellation is known, and of which an attempt or an end is. */
interface Fold extends DeliveryFold<EntryStatus> {
  readonly asked: number;
  readonly progressed: number;
}

/** more: JSON of what few have, or ''. */
export type AttemptRow = Readonly<
  Record<'triedAt' | 'status' | 'durationMs' | 'version', number> &
    Record<'error' | 'more', string> & { response: string | null }
>;
/** Of the last attempt. */
type Tried = Pick<AttemptRow, 'triedAt' | 'status' | 'error'>;

/** row null: it is new. event: the row of its event, known once that is written. */
export type DeliveryRow = Tried & { event: number } & Readonly<
    Record<'accountId' | 'webhookId' | 'firstAt' | 'paymentOffset' | 'state', number> &
      Record<'id' | 'webhookEvent', string> & { row: number | null; fold: string | null }
  >;

export const putDelivery = writer(
  'deliveries',
  ['event', 'accountId', 'webhookId', 'firstAt', 'paymentOffset', 'id', 'webhookEvent'],
  ['state', 'triedAt', 'status', 'error', 'fold'],
);

const NO_WAIT: Wait = { nextAttemptAt: null, waitingFor: null, step: null };
/** Its `at` is not kept: nothing asks when a delivery was reported that came at once. */
const AT_ONCE: Fold = {
  last: { state: STATE.delivered, outcome: 'delivered', chain: 0, attempts: 1, at: 0, ...NO_WAIT },
  givenUp: null,
  asked: 0,
  progressed: 0,
};

/** @param known undefined: the entry is the first of its delivery @param attempt the entry's */
export function withEntry(known: DeliveryRow | undefined, entry: ViewEntry, attempt: AttemptRow | null): DeliveryRow {
  const { accountId, webhookId, firstAt, id, webhookEvent } = known ?? entry;
  const fold = isFirstSuccess(entry) && !known?.fold ? AT_ONCE : folded(known && foldOf(known), entry);
  const { triedAt, status, error } = lastTried(known, attempt);
  const { last, givenUp, asked, progressed } = fold;
  const isAtOnce = isFirstSuccess(last) && asked + progressed === 0 && givenUp === null && isSuccess(status);
  return {
    row: known?.row ?? null,
    event: known?.event ?? 0,
    accountId,
    webhookId,
    firstAt,
    paymentOffset: known?.paymentOffset ?? offsetIn(entry.payment),
    id,
    webhookEvent,
    state: isAtOnce ? STATE.atOnce : statusOf(fold).state,
    triedAt,
    status,
    error,
    fold: isAtOnce ? null : JSON.stringify(fold),
  };
}

/** @throws SyntaxError if the view is damaged */
export function foldOf({ fold }: Pick<DeliveryRow, 'fold'>): Fold {
  return fold === null ? AT_ONCE : (JSON.parse(fold) as Fold);
}

function folded(known: Fold | undefined, entry: ViewEntry): Fold {
  const { chain, attempts, outcome } = entry;
  const { asked = 0, progressed = 0 } = known ?? {};
  const { last, givenUp } = withStatus(known, saidBy(entry));
  return {
    last,
    givenUp,
    asked: outcome === 'cancelled' ? asked : Math.max(asked, chain),
    progressed: attempts > 0 || outcome !== 'retrying' ? Math.max(progressed, chain) : progressed,
  };
}

function isFirstSuccess({ outcome, chain, attempts }: DeliveryStatus | ViewEntry): boolean {
  return outcome === 'delivered' && chain === 0 && attempts === 1;
}

const UNTRIED: Tried = { triedAt: 0, status: 0, error: '' };

/** In the order of attempts: by time, status and error. */
function lastTried(known: Tried = UNTRIED, attempt: Tried | null): Tried {
  if (!attempt) return known;
  const { triedAt, status, error } = attempt;
  const isLater = triedAt - known.triedAt || status - known.status || Number(error > known.error) - 0.5;
  return isLater > 0 ? attempt : known;
}

/** Its `at` may be any text with the form of a time. */
export function attemptRow(attempt: LoggedAttempt): AttemptRow {
  const {
    at,
    status,
    error,
    response = null,
    durationMs,
    version,
    reason,
    expiredCertificate,
    trigger,
    actor,
  } = attempt;
  const isPlain = reason === undefined && trigger === undefined && actor === undefined;
  return {
    triedAt: Date.parse(at) || 0,
    status: status ?? 0,
    error: escaped(error) ?? '',
    durationMs,
    version,
    more: isPlain ? '' : JSON.stringify({ reason, expiredCertificate, trigger, actor }),
    response,
  };
}

export function toAttempt({ triedAt, status, error, durationMs, version, more, response }: AttemptRow): LoggedAttempt {
  const rest = unescaped(more || null) as Pick<
    LoggedAttempt,
    'reason' | 'expiredCertificate' | 'trigger' | 'actor'
  > | null;
  const answer = { status: status || null, error: unescaped(error || null), ...(response !== null && { response }) };
  return { at: new Date(triedAt).toISOString(), durationMs, version, ...rest, ...answer };
}

export function isSuccess(status: number | null): boolean {
  return status !== null && Math.floor(status / 100) === 2;
}

export function outcomeOf(state: number): Outcome {
  return OUTCOME_OF[state] as Outcome;
}

/** @param shown a state: what waits for a removed webhook is shown as removed */
export function toWait(shown: number, { nextAttemptAt, waitingFor, step }: Wait): Wait {
  return shown === STATE.retrying ? { nextAttemptAt, waitingFor, step } : NO_WAIT;
}

/** Named one by one: a rest of them took 0.5 us. */
function saidBy(entry: ViewEntry): EntryStatus {
  const { outcome, held, endedBy, chain, attempts, place } = entry;
  const isRemoved = outcome === 'cancelled' && endedBy !== undefined;
  const state = outcome === 'exhausted' && held ? STATE.held : isRemoved ? STATE.removed : STATE[outcome];
  const { nextAttemptAt, waitingFor = null, step = null } = outcome === 'retrying' ? entry : NO_WAIT;
  return { state, outcome, chain, attempts, at: place.timestamp, nextAttemptAt, waitingFor, step };
}
