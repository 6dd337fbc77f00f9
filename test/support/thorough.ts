import { test } from '@jest/globals';

/** What make test-all does in full, make test does with smaller numbers. */
export const THOROUGH = process.env.TEST_ALL !== undefined;

export function inFull<T>(all: T, quick: T): T {
  return THOROUGH ? all : quick;
}

/** For what another test shows in part: make test says that it is skipped. */
export const testInFull: (name: string, fn: () => Promise<void>, timeout?: number) => void = THOROUGH
  ? test
  : test.skip;
