/**
 * The scheduler of attempts beside hostile, slow and dear receivers, in virtual time. `make test` plays few scenarios,
 * `make test-all` those and all but the largest, `make test-nightly` all with each seed, or with JUDGE_SEED alone.
 */
import { judge } from '../../support/scheduler/scenario.js';
import { FEW_SCENARIOS, SCENARIOS, SEEDS } from '../../support/scheduler/scenarios.js';
import { inFull } from '../../support/thorough.js';

const FIRST_SEED = SEEDS.slice(0, 1);
const asked = Number(process.env.JUDGE_SEED);
const seeds = inFull(FIRST_SEED, FIRST_SEED, asked ? [asked] : SEEDS);
/** Three quarters of the time of all. */
const isLarge = (name: string) => /\b(1200|400) hostile|^(1200|400|100 x 3|21 URLs of 10 ms)\b/.test(name);
const isFew = (name: string) => FEW_SCENARIOS.some((few) => few.name === name);
const SMALLER = [...FEW_SCENARIOS, ...SCENARIOS.filter(({ name }) => !isLarge(name) && !isFew(name))];
const played = inFull(SMALLER, FEW_SCENARIOS, SCENARIOS);
const cases = played.flatMap((scenario) => seeds.map((seed) => ({ ...scenario, seed })));

test.each(cases)('$name, seed $seed', async ({ seed, ...scenario }) => {
  expect(await judge(scenario, seed)).toEqual([]);
});
