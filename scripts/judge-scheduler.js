/**
 * Prints how the scheduler does in the scenarios of its judge: node --import ./scripts/typescript/register.js
 * scripts/judge-scheduler.js [pattern of names] [seed, or seeds with commas between]. FEW=1: those of make test.
 */
import { judge, rounded } from '../test/support/scheduler/scenario.ts';
import { FEW_SCENARIOS, SCENARIOS } from '../test/support/scheduler/scenarios.ts';

const [pattern = '', seeds = '1'] = process.argv.slice(2);
const all = process.env.FEW ? FEW_SCENARIOS : SCENARIOS;

for (const scenario of all.filter(({ name }) => new RegExp(pattern).test(name))) {
  for (const seed of seeds.split(',')) {
    const before = process.cpuUsage();
    const { name, figures, broken } = await judge(scenario, Number(seed));
    const { user, system } = process.cpuUsage(before);
    const seconds = rounded((user + system) / 1e6);
    const shown = Object.entries(figures).map(([figure, value]) => `${figure} ${rounded(value)}`);
    console.log(`${broken.length > 0 ? 'FAILS' : 'holds'} | ${name} | ${seed} | ${shown.join(', ')} | ${seconds} s`);
    for (const limit of broken) console.log(`      ${limit}`);
  }
}
