/** The nightly parts of all seeds, with an `npm` that only prints how it was called. */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { undoneAfterEach } from '../support/scenes/at-end.js';
import { temporaryDirectory } from '../support/scenes/temporary-directory.js';

const ROOT = join(import.meta.dirname, '../..');
const SEEDS = Array.from({ length: 20 }, (_, index) => index + 1);

const atEnd = undoneAfterEach();

/** @param failing seeds */
function runNightly(part: string, failing: readonly number[] = []) {
  const { path, remove } = temporaryDirectory();
  atEnd(remove);
  const fails = failing.map((seed) => `[ "$TEST_SEED" != ${seed} ] || exit 1`);
  const npm = ['#!/bin/sh', 'echo "npm with seed $TEST_SEED: $*"', ...fails].join('\n');
  writeFileSync(join(path, 'npm'), npm, { mode: 0o755 });
  const { status, stdout } = spawnSync(process.execPath, ['test/runner/nightly.js'], {
    cwd: ROOT,
    encoding: 'utf8',
    env: { PATH: `${path}:${process.env.PATH}`, PART: part },
  });
  const runs = [...stdout.matchAll(/^npm with seed (\d+): (.*)$/gm)];
  return {
    status,
    lines: stdout.split('\n'),
    runs: runs.map(([, seed]) => Number(seed)),
    patterns: runs[0]?.[2] ?? '',
  };
}

test('a part runs all its seeds and names those that failed', () => {
  const { status, runs, lines } = runNightly('seeds', [3, 4, 18]);
  expect(runs).toEqual(SEEDS);
  expect(status).toBe(1);
  expect(lines).toContain('Failed nightly parts: seeds-1 (TEST_SEED=3), seeds-1 (TEST_SEED=4), seeds-5 (TEST_SEED=18)');
});

test('no failed part is listed if every run passes', () => {
  const { status, runs, lines } = runNightly('seeds');
  expect([status, runs]).toEqual([0, SEEDS]);
  expect(lines.filter((line) => line.startsWith('Failed'))).toEqual([]);
});

describe('the test files of a seed', () => {
  let patterns: string;
  beforeAll(() => {
    patterns = runNightly('seeds-1').patterns;
  });

  it.each([
    ['import fast-check', 'http/openapi-fuzz'],
    ['import seeded choices', 'delivery/payment-fuzz'],
    ['reach fast-check through a contract', 'contract/sqlite'],
    ['reach seeded choices through a contract', 'contract/deliveries-view'],
  ])('include those that %s', (_, file) => {
    expect(patterns).toContain(`--testPathPatterns test/${file}.test.ts`);
  });

  it.each([
    ['make no random choices', 'time/retry'],
    ['have parts with seeds of their own', 'delivery/isolation/scheduler-judge'],
  ])('exclude those that %s', (_, file) => {
    expect(patterns).not.toContain(file);
  });
});
