/** Repeatable random choices: the seed is printed, and TEST_SEED sets it. */
import { SEED } from '../../runner/seed.js';

export interface Seeded {
  readonly seed: number;
  /** A whole number from 0 up to, not including, the limit. */
  below(limit: number): number;
}

export function seeded(seed = SEED): Seeded {
  let state = seed >>> 0;
  // mulberry32, by Tommy Ettinger, in the public domain.
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return { seed, below: (limit) => Math.floor(next() * limit) };
}
