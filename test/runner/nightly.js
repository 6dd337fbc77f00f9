/**
 * What takes too long for each commit: `make test-nightly` runs all parts, `PART=kills` one of them, and `PART=of-commit`,
 * as CI does, the one of the short parts that the commit's hash chooses: a minute to four each.
 */
import { spawnSync } from 'node:child_process';
import { randomizedTests } from './randomized-tests.js';

/** Patterns of test files, which read TEST_NIGHTLY in thorough.ts, and for RANDOMIZED also TEST_SEED (test/runner/seed.js). */
const RANDOMIZED = randomizedTests();
const SEEDS = 20;
const SEEDS_PER_PART = 4;
const PARTS = {
  ...Object.fromEntries([1, 2, 3, 4, 5].map((seed) => [`scheduler-${seed}`, ['delivery/isolation/scheduler-judge']])),
  kills: ['faults/random-kills'],
  memory: ['faults/memory-levels-off'],
  payments: ['delivery/payment-fuzz'],
  audit: ['audit/completeness-property', 'audit/planted-losses-property'],
  resends: ['delivery/again/resends-property'],
  requests: ['http/openapi-fuzz', 'http/raw-requests-fuzz', 'http/payment-events/(publish-fuzz|event-values)'],
  ...Object.fromEntries(seedParts().map((part) => [part.name, RANDOMIZED])),
  stores: ['contract/eventstoredb', 'adapters/eventstoredb/one-history-property'],
};

/** Parts that are rows of bench/, each of which has to hold: BENCH_ONLY and more. */
const BENCHES = {
  large: { BENCH_ONLY: 'large-account,delivery-pages,audit,audit-memory,audit-disk', BENCH_DELIVERIES: '10000000' },
  outages: { BENCH_ONLY: 'outage-30,outage-300', BENCH_OUTAGE_SECONDS: '180' },
};

/** More than four minutes each, memory two hours (MEMORY_SECONDS): a commit does not wait for them. */
const isLong = (name) => /^(memory|large|outages|audit|seeds-.*)$/.test(name);

const names = [...Object.keys(PARTS), ...Object.keys(BENCHES)];
const wanted = process.env.PART || 'all';
const isWanted = (name) => wanted === 'all' || name === wanted || name.startsWith(`${wanted}-`);
const chosen = wanted === 'of-commit' ? [ofCommit()] : names.filter(isWanted);
if (chosen.length === 0) throw new Error(`PART is ${wanted}; it may be of-commit, ${names.join(', ')}`);

const failures = [];
for (const name of chosen) {
  console.log(`Nightly part: ${name} (of ${names.join(', ')})`);
  const startedAt = performance.now();
  failures.push(...failuresOf(name));
  console.log(`Nightly part: ${name} took ${Math.round((performance.now() - startedAt) / 1_000)} s`);
}
if (failures.length > 0) {
  process.exitCode = 1;
  console.log(`Failed nightly parts: ${failures.join(', ')}`);
}

/** All of a part's seeds run, even if one of them fails. @returns {string[]} the part once for each failed run, with its seed */
function failuresOf(name) {
  if (name in BENCHES) return measures(BENCHES[name]) ? [] : [name];
  const failed = runsOf(name).filter((env) => !passes(PARTS[name], env));
  return failed.map(({ TEST_SEED: seed }) => (seed ? `${name} (TEST_SEED=${seed})` : name));
}

/** Environments in which the part's tests run, one after the other. */
function runsOf(name) {
  const part = seedParts().find((one) => one.name === name);
  // Many seeds of the ordinary size find more than one long run of a single seed.
  if (part) return part.seeds.map((seed) => ({ TEST_ALL: '1', TEST_SEED: String(seed) }));
  if (name === 'memory') return [{ TEST_NIGHTLY: '1', MEMORY_SECONDS: process.env.MEMORY_SECONDS ?? '3600' }];
  return [{ TEST_NIGHTLY: '1', JUDGE_SEED: name.split('-')[1] ?? '' }];
}

function passes(patterns, env) {
  const args = patterns.flatMap((pattern) => ['--testPathPatterns', pattern]);
  if (env.TEST_SEED) console.log(`TEST_SEED=${env.TEST_SEED}`);
  const { status } = spawnSync('npm', ['test', '--silent', '--', ...args], {
    stdio: 'inherit',
    env: { ...process.env, ...env },
  });
  return status === 0;
}

/** One round of each row: filling the tables takes most of the time. */
function measures(env) {
  const { status } = spawnSync(process.execPath, ['--import', './scripts/typescript/register.js', 'bench/run.ts'], {
    stdio: 'inherit',
    env: { BENCH_ROUNDS: '1', ...env, BENCH_MUST_HOLD: '1', ...process.env },
  });
  return status === 0;
}

/** @returns {{name: string, seeds: number[]}[]} */
function seedParts() {
  return Array.from({ length: SEEDS / SEEDS_PER_PART }, (_, part) => ({
    name: `seeds-${part + 1}`,
    seeds: Array.from({ length: SEEDS_PER_PART }, (_, index) => part * SEEDS_PER_PART + index + 1),
  }));
}

/** Without git, the first one. */
function ofCommit() {
  const short = names.filter((name) => !isLong(name));
  const { stdout } = spawnSync('git', ['rev-parse', '--short=8', 'HEAD'], { encoding: 'utf8' });
  return short[Number.parseInt(stdout || '0', 16) % short.length];
}
