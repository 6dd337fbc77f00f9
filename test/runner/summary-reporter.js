import { writeSync } from 'node:fs';
import { LEFT_TO_TEST_ALL } from './left-to-test-all.js';

/**
 * Prints `N passed, N failed, N skipped` as the very last line of the run, for people and machines that read no more.
 * A test file that could not run, or left something open, counts as one failure.
 */
export default class SummaryReporter {
  onRunComplete(_contexts, results) {
    if (process.env.TEST_LESS) console.log(`Left to make test-all: ${LEFT_TO_TEST_ALL.join(', ')}`);
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
    const skipped = results.numPendingTests + results.numTodoTests;
    const line = `${results.numPassedTests} passed, ${failed} failed, ${skipped} skipped\n`;
    // Jest's own summary comes after this hook; nothing comes after exit.
    process.once('exit', () => writeSync(1, line));
  }
}
