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

/** What an entry says of the outcome, and when it was published. */
export interface Said {
  readonly state: number;
  readonly chain: number;
  /** Attempts of the chain. */
  readonly made: number;
  readonly said_at: number;
  readonly partition: number;
  /** These of a waiting delivery. */
  readonly next_at: string | null;
  readonly waiting_for: string | null;
  readonly step: number | null;
}

export interface FoldedDelivery {
  readonly fold: DeliveryFold<SaidStatus>;
  /** The last chain above 0 of which an attempt or an end is known; null: none is. */
  readonly progressed: number | null;
  /** Chains above 0 of which something other than a cancellation is known. */
  readonly requested: readonly number[];
  /** Publication of the last entry: forget goes by this. */
  readonly lastAt: number;
}

export function withEntry(known: FoldedDelivery | null, entry: ViewEntry): FoldedDelivery {
  const fold = withStatus(known?.fold, new SaidStatus(saidBy(entry)));
  const { progressed, requested } = withChain(known, entry);
  return { fold, progressed, requested, lastAt: Math.max(known?.lastAt ?? 0, entry.place.timestamp) };
}

/** @param answer to the last attempt */
export function stateOf({ fold }: FoldedDelivery, answer: number): number {
  const { state } = statusOf(fold).said;
  return state === STATE.delivered && answer !== 2 ? STATE.refused : state;
}

export function outcomeOf(state: number): Outcome {
  const outcome = OUTCOME_OF[state];
  if (outcome === undefined) throw new SyntaxError(`no state of a delivery: ${state}`);
  return outcome;
}

/** A class because one is made for each entry, and few are compared. */
export class SaidStatus implements DeliveryStatus {
  readonly outcome: Outcome;
  readonly said: Said;

  constructor(said: Said) {
    this.outcome = outcomeOf(said.state);
    this.said = said;
  }

  get chain(): number {
    return this.said.chain;
  }

  get attempts(): number {
    return this.said.made;
  }

  get at(): number {
    return this.said.said_at;
  }

  /** It breaks ties, and has all that is kept: what is said must not depend on the order of entries. */
  get nextAttemptAt(): string {
    const { next_at, waiting_for, state, step, partition } = this.said;
    return `${next_at} ${waiting_for} ${state} ${step} ${partition}`;
  }
}

function saidBy(entry: ViewEntry): Said {
  const isWaiting = entry.outcome === 'retrying';
  return {
    state: saidState(entry),
    chain: entry.chain,
    made: entry.attempts,
    said_at: entry.place.timestamp,
    partition: entry.place.partition,
    next_at: isWaiting ? entry.nextAttemptAt : null,
    waiting_for: isWaiting ? entry.waitingFor : null,
    step: isWaiting ? entry.step : null,
  };
}

function saidState({ outcome, held, endedBy }: ViewEntry): number {
  if (!OUTCOMES.includes(outcome)) throw new TypeError('an entry has no outcome');
  if (outcome === 'exhausted' && held) return STATE.held;
  return outcome === 'cancelled' && endedBy !== null ? STATE.removed : STATE[outcome];
}

function withChain(known: FoldedDelivery | null, { chain, attempts, outcome }: ViewEntry) {
  const { progressed = null, requested = [] } = known ?? {};
  if (chain === 0) return { progressed, requested };
  const isBegun = attempts > 0 || outcome !== 'retrying';
  const isNew = outcome !== 'cancelled' && !requested.includes(chain);
  return {
    progressed: isBegun ? Math.max(progressed ?? 0, chain) : progressed,
    requested: isNew ? [...requested, chain].sort((one, other) => one - other) : requested,
  };
}
