/**
 * A retry record may be redelivered, after a crash between its next record and the commit. Both copies would make an
 * attempt and publish a next record: two chains, to the end of the schedule. So a process takes a step of a delivery
 * (its attempts, replays and parkings so far) once: while the step is in progress, a duplicate shares its promise; once
 * it is durable, nothing is left to do.
 *
 * The records of a delivery are in one partition of a tier, so the second chain meets the first there and ends. A replay has
 * a higher turn, and a second publication another place: they are other steps.
 */
import { LRUCache } from 'lru-cache';
import type { Deliver } from '../deliver-parts.js';
import type { Delivery } from '../delivery.js';

/**
 * Retry records only, about 5 MiB. A duplicate arrives as long after the first as a process was down or a partition
 * took to change hands: at 100 retries per second, that may be three minutes. If it arrives later, the chains meet at a
 * later step.
 */
const MOST_REMEMBERED = 20_000;

export function eachStepOnce(deliver: Deliver): Deliver {
  const underWay = new Map<string, Promise<void>>();
  const durable = new LRUCache<string, true>({ max: MOST_REMEMBERED });

  return (delivery, hold) => {
    // Releases that did not write the payment's place: two publications would look like one.
    if (delivery.payment === null) return deliver(delivery, hold);
    const key = stepOf(delivery);
    if (durable.has(key)) return Promise.resolve();
    const step = underWay.get(key) ?? taken(key, deliver(delivery, hold));
    underWay.set(key, step);
    return step;
  };

  /** Forgets a rejected step: its record is redelivered. */
  async function taken(key: string, step: Promise<void>): Promise<void> {
    try {
      await step;
      durable.set(key, true);
    } finally {
      underWay.delete(key);
    }
  }
}

function stepOf({ id, payment, turn, parkings }: Delivery): string {
  return `${id} ${payment} ${turn} ${parkings}`;
}
