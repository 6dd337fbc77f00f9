/**
 * What takes too long for each commit: `make test-nightly` runs all parts, `PART=kills` one of them, and `PART=of-commit`,
 * as CI does, the one that the commit's hash chooses. A part takes less than five minutes on two quiet cores.
 */
import { spawnSync } from 'node:child_process';

/** Patterns of test files, which read TEST_NIGHTLY in support/thorough.ts. */
const PARTS = {
  scheduler: ['delivery/isolation/scheduler-'],
  kills: ['faults/random-kills'],
  payments: ['delivery/payment-fuzz', 'delivery/again/sent-again-property'],
  audit: ['audit/completeness-property', 'audit/completeness-races-property'],
  requests: ['http/openapi-fuzz', 'http/raw-requests-fuzz', 'http/payment-events/publish-fuzz'],
  backbones: ['e2e/fan-out', 'contract/eventstoredb', 'adapters/eventstoredb/one-history-property'],
};

const names = Object.keys(PARTS);
const wanted = process.env.PART || 'all';
const ofCommit = wanted === 'of-commit' ? commitNumber() : null;
const chosen =
  ofCommit === null ? names.filter((name) => wanted === 'all' || wanted === name) : [pick(names, ofCommit)];
/** One of the scheduler's five seeds where a commit chooses: all of them take half an hour. */
const seed = ofCommit === null ? {} : { JUDGE_SEED: `${pick([1, 2, 3, 4, 5], ofCommit)}` };
if (chosen.length === 0) throw new Error(`PART is ${wanted}; it may be of-commit, ${names.join(', ')}`);

for (const name of chosen) {
  console.log(`Nightly part: ${name} (of ${names.join(', ')})`);
  const began = performance.now();
  const patterns = PARTS[name].flatMap((pattern) => ['--testPathPatterns', pattern]);
  const env = { ...process.env, TEST_NIGHTLY: '1', ...seed };
  const { status } = spawnSync('npm', ['test', '--silent', '--', ...patterns], { stdio: 'inherit', env });
  console.log(`Nightly part: ${name} took ${Math.round((performance.now() - began) / 1_000)} s`);
  if (status !== 0) process.exitCode = 1;
}

/** 0 where there is no git. */
function commitNumber() {
  const { stdout } = spawnSync('git', ['rev-parse', '--short=8', 'HEAD'], { encoding: 'utf8' });
  return Number.parseInt(stdout || '0', 16);
}

function pick(all, number) {
  return all[number % all.length];
}
