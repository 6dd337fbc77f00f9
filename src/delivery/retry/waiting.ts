/**
 * How a delivery waits for any time, with tiers that have few. A tier is first in, first out, so what waits in it for much
 * longer or shorter than the others would be late, or make them late. So a wait that no tier has passes through several: in
 * each it lasts the tier's delay, and in the last one what is left. So it ends within a tenth and 5 s of its time, whatever
 * waits before it.
 */
import { type Delivery, toRetryRecord } from '../delivery.js';
import type { StoredProgress } from '../delivery-progress.js';
import { type DurablePublishParts, publishUntilDurable } from '../durable-publish.js';
import { DEFERRALS, longestDelayMs, longestMs, type Tier } from './retry-schedule.js';

export interface Wait {
  readonly tier: Tier;
  /** When it is over in this tier, ms since the epoch. */
  readonly due: number;
  /** What is left of it then, ms: to be passed in other tiers. */
  readonly moreMs: number;
}

/** @param tiers the first of two with the same delay is taken @param ms from now */
export function waitFor(tiers: readonly Tier[], ms: number, now: number): Wait {
  const tier = tierFor(tiers, ms);
  const moreMs = ms <= longestMs(tier) ? 0 : ms - tier.ms;
  return { tier, due: now + ms - moreMs, moreMs };
}

/** The longest that is not longer. One that is shorter than those of deferred deliveries only where it has that very delay. */
function tierFor(tiers: readonly Tier[], ms: number): Tier {
  const shortest = DEFERRALS[0].ms;
  const fits = (tier: Tier) => tier.ms <= ms && (tier.ms >= shortest || ms <= longestMs(tier));
  const [first, ...others] = tiers.some(fits) ? tiers.filter(fits) : tiers.filter((tier) => tier.ms === shortest);
  if (!first) throw new RangeError('no tier has the shortest delay');
  return others.reduce((longest, tier) => (tier.ms > longest.ms ? tier : longest), first);
}

/**
 * Passes a delivery on whose wait is not over with its tier: without a step, a deferral or an entry.
 * @returns whether it waits on: then its record is done. Rejected if the service abandons its work.
 */
export async function passOn(
  parts: DurablePublishParts & { readonly now: () => number },
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
