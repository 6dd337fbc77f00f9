/** What readers see of a delivery's next attempt: a time that is kept, or why there is none. */
import type { ViewedDelivery } from './deliveries-view.js';
import type { DeliveryStatus } from './delivery-order.js';

type Waiting = Pick<DeliveryStatus, 'outcome' | 'nextAttemptAt' | 'waitingFor'>;

/** Null, both of them, of a delivery that has ended. */
export type ShownWait = Pick<ViewedDelivery, 'nextAttemptAt' | 'waitingFor'>;

const ENDED: ShownWait = { nextAttemptAt: null, waitingFor: null };

/** @param now ms since the epoch */
export function shownWait({ outcome, nextAttemptAt, waitingFor }: Waiting, now: number): ShownWait {
  if (outcome !== 'retrying') return ENDED;
  if (nextAttemptAt !== null && Date.parse(nextAttemptAt) > now) return { nextAttemptAt, waitingFor: 'schedule' };
  // The schedule explains no wait without a time ahead: then other deliveries come first.
  return { nextAttemptAt: null, waitingFor: waitingFor && waitingFor !== 'schedule' ? waitingFor : 'queue' };
}
