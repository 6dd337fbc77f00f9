/** What make test-all does in full, make test does with smaller numbers. */
export const THOROUGH = process.env.TEST_ALL !== undefined;

export function inFull<T>(all: T, quick: T): T {
  return THOROUGH ? all : quick;
}
