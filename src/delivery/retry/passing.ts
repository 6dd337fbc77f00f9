/** Passes a delivery on whose wait is not over with its tier (waiting.ts): without a step, a deferral or an entry. */
import { type Delivery, toRetryRecord } from '../delivery.js';
import type { StoredProgress } from '../delivery-progress.js';
import { type DurablePublishParts, publishUntilDurable } from '../durable-publish.js';
import { longestDelayMs, type Tier } from './retry-schedule.js';
import { waitFor } from './waiting.js';

export interface PassingParts extends DurablePublishParts {
  readonly now: () => number;
}

/** @returns whether it waits on: then its record is done. Rejected if the service abandons its work. */
export async function passOn(
  parts: PassingParts,
  tiers: readonly Tier[],
  delivery: Delivery,
  { due = 0, moreMs = 0 }: Pick<StoredProgress, 'due' | 'moreMs'>,
): Promise<boolean> {
  if (moreMs <= 0) return false;
  const now = parts.now();
  // As a time that is left, not as one of the day: each tier takes some of it, whatever clocks say and records claim.
  const leftMs = Math.min(moreMs - Math.max(0, now - due), longestDelayMs(tiers));
  if (leftMs <= 0) return false;
  const wait = waitFor(tiers, leftMs, now);
  await publishUntilDurable(parts, wait.tier.topic, toRetryRecord(delivery, wait.due, wait.moreMs));
  return true;
}
