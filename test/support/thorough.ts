/** What is repeated with other seeds each night: make test-nightly. */
export const NIGHTLY = process.env.TEST_NIGHTLY !== undefined;

/** Full numbers for make test-all, smaller ones for make test. */
export const THOROUGH = NIGHTLY || process.env.TEST_ALL !== undefined;

export function inFull<T>(all: T, quick: T): T {
  return THOROUGH ? all : quick;
}

/** For a test that another one covers in part: make test reports it as skipped. */
export const testInFull: (name: string, fn: () => Promise<void>, timeout?: number) => void = THOROUGH
  ? test
  : test.skip;
