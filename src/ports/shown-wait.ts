/** What readers see of a delivery's next attempt: a time that is kept, or why there is none. */
import type { Outcome, WaitingFor } from './delivery-order.js';

interface Waiting {
  readonly outcome: Outcome;
  /** ISO 8601 */
  readonly nextAttemptAt: string | null;
  readonly waitingFor?: WaitingFor | null | undefined;
}

/** Null, both of them, of a delivery that has ended. */
export interface ShownWait {
  readonly nextAttemptAt: string | null;
  readonly waitingFor: WaitingFor | null;
}

const ENDED: ShownWait = { nextAttemptAt: null, waitingFor: null };

/** @param now ms since the epoch */
export function shownWait({ outcome, nextAttemptAt, waitingFor }: Waiting, now: number): ShownWait {
  if (outcome !== 'retrying') return ENDED;
  if (nextAttemptAt !== null && Date.parse(nextAttemptAt) > now) return { nextAttemptAt, waitingFor: 'schedule' };
  // The schedule explains no wait without a time ahead: then other deliveries come first.
  return { nextAttemptAt: null, waitingFor: waitingFor && waitingFor !== 'schedule' ? waitingFor : 'queue' };
}
