import { patience } from './patience.js';
import { seedProperties } from './seed.js';

/** Where jest-circus looks for the timeout of a file's tests, in ms. */
const TEST_TIMEOUT = Symbol.for('TEST_TIMEOUT_SYMBOL');
/**
 * Fake timers are the process's. Were these fake too, ticks of Node.js's own streams and sockets, and of jest's worker, would
 * count as timers, wait for a test to advance its clock, and be lost with the fake clock.
 */
const NEVER_FAKE = ['nextTick', 'queueMicrotask', 'setImmediate', 'clearImmediate'];

/** Before a test file is loaded: jest-circus's functions of this file, and of `jest` what tests use (globals.d.ts). */
export function setGlobals(globals, { moduleMocker, fakeTimersModern, testTimeoutMs }) {
  const { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, test } = globals;
  const jest = jestOf(moduleMocker, fakeTimersModern);
  Object.assign(globalThis, { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest, test });
  jest.setTimeout(testTimeoutMs);
  seedProperties();
}

function jestOf(mocker, timers) {
  const self = {
    fn: mocker.fn.bind(mocker),
    spyOn: mocker.spyOn.bind(mocker),
    replaceProperty: mocker.replaceProperty.bind(mocker),
    restoreAllMocks: () => void mocker.restoreAllMocks() ?? self,
    // It is for what hangs: on a busy machine a test takes longer.
    setTimeout: (ms) => {
      globalThis[TEST_TIMEOUT] = Math.ceil(ms * patience());
      return self;
    },
    useFakeTimers: (options) => void timers.useFakeTimers({ ...options, doNotFake: NEVER_FAKE }) ?? self,
    useRealTimers: () => void timers.useRealTimers() ?? self,
    advanceTimersByTime: (ms) => timers.advanceTimersByTime(ms),
    advanceTimersByTimeAsync: (ms) => timers.advanceTimersByTimeAsync(ms),
    getTimerCount: () => timers.getTimerCount(),
  };
  return self;
}
