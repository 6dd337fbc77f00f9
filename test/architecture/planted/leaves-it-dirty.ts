let runs = 0;

/** The state of a module, a mock, and fake timers of the file before would be seen here. */
export function findsItCleanAndLeavesItDirty(): void {
  runs += 1;
  expect(runs).toBe(1);
  expect(Math.random()).not.toBe(0.5);
  jest.spyOn(Math, 'random').mockReturnValue(0.5);
  expect(setTimeout).not.toHaveProperty('clock');
  jest.useFakeTimers();
  expect(setTimeout).toHaveProperty('clock');
}
