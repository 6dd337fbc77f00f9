/**
 * How a delivery waits for any time, with tiers that have few. A tier is first in, first out, so what waits in it for much
 * longer or shorter than the others would be late, or make them late. So a wait that no tier has passes through several: in
 * each it lasts the tier's delay, and in the last one what is left. So it ends within a tenth and 5 s of its time, whatever
 * waits before it.
 */
import type { BundleWait } from './bundle.js';
import { DEFERRALS, longestMs, type Tier } from './retry-schedule.js';

export interface Wait extends BundleWait {
  readonly tier: Tier;
}

/** @param tiers the first of two with the same delay is taken @param ms from now */
export function waitFor(tiers: readonly Tier[], ms: number, now: number): Wait {
  const tier = tierFor(tiers, ms);
  const moreMs = ms <= longestMs(tier) ? 0 : ms - tier.ms;
  return { tier, due: now + ms - moreMs, moreMs };
}

/** Grid lines in the tier's delay. A turn or a pause ends on one of the shortest tier. */
const GRID_LINES = 4;

interface Grid {
  readonly now: number;
  /** Of the grid: between 0 and 1, in steps of the grid. */
  readonly shift: number;
  /** turn: the endpoint would be idle if many had one. pause: the wait must not end before its time. */
  readonly until: 'any' | 'turn' | 'pause';
}

/**
 * A wait that ends on a grid of times, so that deliveries which come one by one return together, as one bundle from then on.
 * It ends up to a step of the grid before its time; if it must not end before that, or would end now, after it.
 */
export function waitOnGrid(tiers: readonly Tier[], ms: number, { now, shift, until }: Grid): Wait {
  const tier = tierFor(tiers, ms);
  const stepMs = (until === 'any' ? tier.ms : DEFERRALS[0].ms) / GRID_LINES;
  const lineBefore = (at: number) => Math.floor((Math.floor(at / stepMs - shift) + shift) * stepMs);
  const before = lineBefore(now + ms);
  const over = before === now + ms || (before > now && until !== 'pause') ? before : before + stepMs;
  const due = over - now <= longestMs(tier) ? over : lineBefore(now + tier.ms);
  return { tier, due, moreMs: over - due };
}

/** The longest that is not longer. One that is shorter than those of deferred deliveries only where it has that very delay. */
function tierFor(tiers: readonly Tier[], ms: number): Tier {
  const shortest = DEFERRALS[0].ms;
  const fits = (tier: Tier) => tier.ms <= ms && (tier.ms >= shortest || ms <= longestMs(tier));
  const [first, ...others] = tiers.some(fits) ? tiers.filter(fits) : tiers.filter((tier) => tier.ms === shortest);
  if (!first) throw new RangeError('no tier has the shortest delay');
  return others.reduce((longest, tier) => (tier.ms > longest.ms ? tier : longest), first);
}
