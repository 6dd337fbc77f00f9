/** The test files whose random choices TEST_SEED repeats (seed.js). */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const TEST_FOLDER = join(import.meta.dirname, '..');
const SEED = /from '(fast-check|.*\/runner\/seed\.js)'/;
/** Only if imported directly: most make samples without random choices, and 163 of 387 test files reach one through scenes. */
const GENERATORS = /support\/generators\//;
const OWN_IMPORT = /from '(\.[^']*)\.js'/g;

/** Not in the parts of all seeds. */
const WITH_OWN_PARTS = [
  // Five parts, one for each JUDGE_SEED, of three to five minutes; TEST_SEED changes nothing in it.
  'delivery/isolation/scheduler-judge.test.ts',
];

/** @returns {string[]} relative to the project; sorted */
export function randomizedTests() {
  const files = readdirSync(TEST_FOLDER, { recursive: true }).filter((file) => file.endsWith('.test.ts'));
  const missing = WITH_OWN_PARTS.filter((file) => !files.includes(file));
  if (missing.length > 0) throw new Error(`test/runner/randomized-tests.js names missing files: ${missing.join(', ')}`);
  const isRandomized = (file) => {
    const path = join(TEST_FOLDER, file);
    return GENERATORS.test(readFileSync(path, 'utf8')) || isSeeded(path, new Set());
  };
  const chosen = files.filter((file) => !WITH_OWN_PARTS.includes(file) && isRandomized(file));
  return chosen.map((file) => `test/${file}`).sort();
}

/** Whether the file, or one of test/ that it imports, uses the seed. @param {Set<string>} visited files that were read */
function isSeeded(path, visited) {
  if (visited.has(path)) return false;
  visited.add(path);
  const text = readFileSync(path, 'utf8');
  if (SEED.test(text)) return true;
  const imports = [...text.matchAll(OWN_IMPORT)].map(([, name]) => join(dirname(path), name));
  const files = imports.flatMap((file) => [`${file}.ts`, `${file}.js`]).filter((file) => existsSync(file));
  return files.some((file) => file.startsWith(TEST_FOLDER) && isSeeded(file, visited));
}
