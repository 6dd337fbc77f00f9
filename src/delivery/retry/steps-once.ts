/**
 * A retry record may be handed out twice: a crash between its next record and the commit. Both would be attempted, and each
 * attempt publishes a next record: two chains, to the end of the schedule. So a step of a delivery (its attempts, replays
 * and put-offs so far) is taken once in a process: while it is under way a second one shares its promise, and once it is
 * durable there is nothing left to do.
 *
 * The records of a key are in one partition of a tier, so the second chain comes to where the first is, and ends there.
 * Replays have a higher turn, and a second publication another place: they are other steps.
 */
import { LRUCache } from 'lru-cache';
import type { Deliver } from '../deliver-parts.js';
import type { Delivery } from '../delivery.js';

/**
 * Of retry records only, about 5 MiB. A double comes as long after the first as a process was down or a partition went
 * from one to another: at 100 retries a second that may be three minutes. Where it comes later, the chains meet at a
 * later step.
 */
const MOST_REMEMBERED = 20_000;

export function eachStepOnce(deliver: Deliver): Deliver {
  const underWay = new Map<string, Promise<void>>();
  const durable = new LRUCache<string, true>({ max: MOST_REMEMBERED });

  return (delivery, hold) => {
    // Records of releases that did not write the payment's place: two publications would be one.
    if (delivery.payment === null) return deliver(delivery, hold);
    const key = stepOf(delivery);
    if (durable.has(key)) return Promise.resolve();
    const step = underWay.get(key) ?? taken(key, deliver(delivery, hold));
    underWay.set(key, step);
    return step;
  };

  /** What was rejected is forgotten: it comes again. */
  async function taken(key: string, step: Promise<void>): Promise<void> {
    try {
      await step;
      durable.set(key, true);
    } finally {
      underWay.delete(key);
    }
  }
}

function stepOf({ id, payment, turn, putOff }: Delivery): string {
  return `${id} ${payment} ${turn} ${putOff}`;
}
