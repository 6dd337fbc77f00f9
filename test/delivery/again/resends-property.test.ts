/**
 * Random resends, cancellations, recoveries and replays on real dispatchers that share topics, crash, lose partitions and get
 * records again. TEST_SEED repeats a run; `make test-nightly PART=resends` makes it longer.
 */
import { SEED } from '../../runner/seed.js';
import { inFull } from '../../runner/thorough.js';
import { DEFECTS } from '../../support/scenes/resends/planted-defects.js';
import { type PlantedInWorld, ResendWorld } from '../../support/scenes/resends/resend-world.js';

const RUNS = inFull(60, 10, 2_000);
/** Simulations until a planted defect must have been found. */
const MAX_RUNS = 400;

afterEach(() => {
  jest.restoreAllMocks();
});

/** @returns the seed and violations of the first simulation that broke a promise */
async function firstBroken(
  runs: number,
  planted?: PlantedInWorld,
): Promise<{ seed: number; violations: readonly string[] } | null> {
  for (let seed = SEED; seed < SEED + runs; seed += 1) {
    const violations = await new ResendWorld(seed, planted).run();
    if (violations.length > 0) return { seed, violations };
  }
  return null;
}

test('resends, cancellations, recoveries and replays break no promise, whichever dispatcher crashes', async () => {
  expect(await firstBroken(RUNS)).toBeNull();
});

test('deliveries of one endpoint share bundles in the simulation', async () => {
  const worlds = Array.from({ length: 10 }, (_, n) => new ResendWorld(SEED + n));
  for (const world of worlds) await world.run();
  expect(Math.max(...worlds.map(({ largestBundle }) => largestBundle))).toBeGreaterThan(1);
});

test.each(Object.entries(DEFECTS))('the simulation finds a planted defect: %s', async (_, { plant, shows }) => {
  const found = await firstBroken(MAX_RUNS, plant());
  expect(found?.violations).toContainEqual(expect.stringMatching(shows));
});
