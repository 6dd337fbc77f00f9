/**
 * The scheduler of attempts beside hostile, slow and dear receivers, in virtual time. `make test` plays few scenarios,
 * `make test-all` those and all but the largest, `make test-nightly` all. JUDGE_SEED sets the seed: its parts play five.
 */
import { inFull } from '../../runner/thorough.js';
import { LARGE_HEALTHY_SCENARIOS } from '../../support/scenes/scheduler/healthy-scenarios.js';
import { judge, type Scenario } from '../../support/scenes/scheduler/scenario.js';
import { FEW_SCENARIOS, SCENARIOS } from '../../support/scenes/scheduler/scenarios.js';

const SEED = Number(process.env.JUDGE_SEED || 1);
/** Three quarters of the time of all. */
const LARGE = /\b(1200|400) hostile|^(1200|400|100 x 3|21 URLs of 10 ms)\b/;
const isLarge = (name: string) => LARGE.test(name) || LARGE_HEALTHY_SCENARIOS.some((large) => large.name === name);
const isFew = (name: string) => FEW_SCENARIOS.some((few) => few.name === name);
const SMALLER = [...FEW_SCENARIOS, ...SCENARIOS.filter(({ name }) => !isLarge(name) && !isFew(name))];
const played = inFull(SMALLER, FEW_SCENARIOS, SCENARIOS);

test.each(played)(`$name, seed ${SEED}`, async (scenario: Scenario) => {
  expect(await judge(scenario, SEED)).toEqual([]);
});
