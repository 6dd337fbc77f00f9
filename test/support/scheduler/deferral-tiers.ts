/**
 * When a delivery that was deferred comes back, as the dispatcher's tiers have it, but for their limits on deferrals a second:
 * those would hide from the scheduler most of what it has to bear.
 */
import { MINUTE, SECOND } from './time.js';

const TIERS = [5 * SECOND, MINUTE, 5 * MINUTE, 30 * MINUTE];
const JITTER = 0.1;

export class DeferralTiers {
  readonly #random: () => number;

  constructor(random: () => number) {
    this.#random = random;
  }

  /** @param awayMs since its first deferral: it is away for a tenth more at most, or the shortest tier @returns ms */
  delayMs(awayMs: number): number {
    const tier = TIERS.findLast((ms) => ms * (1 + JITTER) <= awayMs / 10);
    return this.jittered(tier ?? TIERS[0] ?? 0);
  }

  jittered(ms: number): number {
    return ms * (1 + JITTER * this.#random());
  }
}
