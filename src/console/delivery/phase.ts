/** Where a delivery stands, for its screen. Pure. */
import type { DetailedDelivery, WebhookHealth } from '../api/shapes.js';

/** What its user asked for here: one more attempt, when it had so many. */
export interface AskedAgain {
  readonly attempts: number;
  /** Ms since the epoch: an attempt that takes longer is not awaited any more. */
  readonly until: number;
}

export type Phase =
  /** One more attempt is on its way at once. */
  | { readonly kind: 'sending' }
  /** at: of the next attempt; null: it has no time, and waits for what `why` names. */
  | { readonly kind: 'waiting'; readonly at: string | null; readonly why: Why; readonly isAgain: boolean }
  | { readonly kind: 'delivered' | 'exhausted' | 'held' | 'cancelled' };

type Why = 'endpoint-failing' | 'endpoint-paused' | 'queue';

type Standing = Pick<DetailedDelivery, 'outcome' | 'held' | 'sentAgain' | 'attempts' | 'nextAttemptAt' | 'waitingFor'>;
type State = Pick<WebhookHealth, 'state'> | undefined;

/** @param health of its webhook; undefined: not known @param now ms since the epoch */
export function phaseOf(delivery: Standing, health: State, asked: AskedAgain | null, now: number): Phase {
  const { outcome, held, sentAgain, attempts } = delivery;
  const isAsked = asked !== null && asked.until > now && attempts.length === asked.attempts;
  const isOnItsWay = isAsked || (sentAgain && outcome === 'delivered');
  if (isOnItsWay && !isHeldBack(delivery, health)) return { kind: 'sending' };
  if (outcome === 'retrying' || sentAgain) return waiting(delivery, health, now);
  return { kind: outcome === 'exhausted' && held ? 'held' : outcome };
}

/** A URL that fails or is paused is tried in its own time. */
function isHeldBack({ waitingFor }: Standing, health: State): boolean {
  return health?.state === 'failing' || waitingFor === 'endpoint-failing' || waitingFor === 'endpoint-paused';
}

function waiting({ nextAttemptAt, waitingFor, sentAgain }: Standing, health: State, now: number): Phase {
  // A time that has passed since the last look is none: it waits for others of its URL.
  const at = nextAttemptAt !== null && Date.parse(nextAttemptAt) > now ? nextAttemptAt : null;
  const ofUrl = health?.state === 'failing' ? 'endpoint-failing' : waitingFor;
  const why = ofUrl === 'endpoint-failing' || ofUrl === 'endpoint-paused' ? ofUrl : 'queue';
  return { kind: 'waiting', at, why, isAgain: sentAgain };
}
