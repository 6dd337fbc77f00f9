/** One seed for all random choices of a run: TEST_SEED repeats it. Without TEST_SEED, each run makes its own choices. */
import fc from 'fast-check';

/** @type {number} between 0 and 999,999 unless TEST_SEED is set */
export const SEED = Number(process.env.TEST_SEED ?? Date.now() % 1_000_000);

/** Properties without a seed of their own use TEST_SEED. */
export function seedProperties() {
  if (process.env.TEST_SEED) fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: SEED });
}
