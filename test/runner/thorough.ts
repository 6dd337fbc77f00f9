/** Three sizes of a run: make test, make test-all, make test-nightly. The larger contains the smaller. */
const NIGHTLY = process.env.TEST_NIGHTLY !== undefined;
const THOROUGH = NIGHTLY || process.env.TEST_ALL !== undefined;

/** @param nightly where make test-all has less than all there is */
export function inFull<T>(all: T, quick: T, nightly: T = all): T {
  if (NIGHTLY) return nightly;
  return THOROUGH ? all : quick;
}

/** For a test that another one covers in part: make test reports it as skipped. */
export const testInFull: (name: string, fn: () => Promise<void>, timeout?: number) => void = THOROUGH
  ? test
  : test.skip;
