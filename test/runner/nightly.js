/**
 * What takes too long for each commit: `make test-nightly` runs all parts, `PART=kills` one of them, and `PART=of-commit`,
 * as CI does, the one that the commit's hash chooses: a minute to four each.
 */
import { spawnSync } from 'node:child_process';

/** Patterns of test files, which read TEST_NIGHTLY in thorough.ts. */
const PARTS = {
  ...Object.fromEntries([1, 2, 3, 4, 5].map((seed) => [`scheduler-${seed}`, ['delivery/isolation/scheduler-judge']])),
  kills: ['faults/random-kills'],
  payments: ['delivery/payment-fuzz'],
  audit: ['audit/completeness-property'],
  requests: ['http/openapi-fuzz', 'http/raw-requests-fuzz', 'http/payment-events/(publish-fuzz|event-values)'],
  stores: ['contract/eventstoredb', 'adapters/eventstoredb/one-history-property'],
};

const names = Object.keys(PARTS);
const wanted = process.env.PART || 'all';
const chosen = wanted === 'of-commit' ? [ofCommit()] : names.filter((name) => wanted === 'all' || wanted === name);
if (chosen.length === 0) throw new Error(`PART is ${wanted}; it may be of-commit, ${names.join(', ')}`);

for (const name of chosen) {
  console.log(`Nightly part: ${name} (of ${names.join(', ')})`);
  const began = performance.now();
  const patterns = PARTS[name].flatMap((pattern) => ['--testPathPatterns', pattern]);
  const env = { ...process.env, TEST_NIGHTLY: '1', JUDGE_SEED: name.split('-')[1] ?? '' };
  const { status } = spawnSync('npm', ['test', '--silent', '--', ...patterns], { stdio: 'inherit', env });
  console.log(`Nightly part: ${name} took ${Math.round((performance.now() - began) / 1_000)} s`);
  if (status !== 0) process.exitCode = 1;
}

/** The first where there is no git. */
function ofCommit() {
  const { stdout } = spawnSync('git', ['rev-parse', '--short=8', 'HEAD'], { encoding: 'utf8' });
  return names[Number.parseInt(stdout || '0', 16) % names.length];
}
