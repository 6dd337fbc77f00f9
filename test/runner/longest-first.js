import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import Sequencer from '@jest/test-sequencer';

const TEST_FOLDER = join(import.meta.dirname, '..');
const PROJECTS = ['faults', 'e2e', 'contract', 'unit'];

/**
 * Jest knows no durations in a fresh clone and goes by the size of a file. These took longest in `make test-all` (30 to
 * 220 s each); two of them are last by size, and a whole run waited 50 s for them while a core had nothing to do.
 */
const LONGEST = [
  'faults/random-kills.test.ts',
  'faults/clock.test.ts',
  'faults/eventstoredb.test.ts',
  'faults/servers-lost.test.ts',
  'faults/kafka-silent.test.ts',
  'faults/several-processes.test.ts',
  'faults/scale-out.test.ts',
  'adapters/eventstoredb/one-history-property.test.ts',
  'e2e/planted-secrets.test.ts',
  'faults/kafka.test.ts',
  'delivery/payment-fuzz.test.ts',
  'audit/completeness-property.test.ts',
  'faults/eventstoredb-outages.test.ts',
  'http/openapi-fuzz.test.ts',
  'delivery/isolation/scheduler-judge.test.ts',
];

/** One file of the browser after so many others: a Chromium is half a dozen processes, and eight at once starve the rest. */
const BETWEEN_BROWSERS = 4;

/** Those that take longest begin first: a long one at the end is waited for. */
export default class LongestFirst extends Sequencer {
  constructor(...options) {
    super(...options);
    const missing = LONGEST.filter((file) => !existsSync(join(TEST_FOLDER, file)));
    if (missing.length > 0)
      throw new Error(`test/runner/longest-first.js names files that are gone: ${missing.join(', ')}`);
  }

  sort(tests) {
    const sorted = super.sort(tests).toSorted((one, other) => placeOf(one) - placeOf(other));
    const browsers = sorted.filter((test) => projectOf(test) === 'browser');
    const others = sorted.filter((test) => projectOf(test) !== 'browser');
    const spread = others.flatMap((test, index) =>
      index % BETWEEN_BROWSERS === 0 ? [...browsers.splice(0, 1), test] : [test],
    );
    return [...spread, ...browsers];
  }
}

function placeOf(test) {
  const place = LONGEST.indexOf(relative(TEST_FOLDER, test.path));
  return place >= 0 ? place : LONGEST.length + PROJECTS.indexOf(projectOf(test));
}

const projectOf = ({ context }) => context.config.displayName?.name ?? 'unit';
