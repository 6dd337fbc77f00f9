/** @returns a function that takes what to undo after the running test, latest first */
export function undoneAfterEach(): (...cleanups: readonly (() => unknown)[]) => void {
  const pending: (() => unknown)[] = [];
  afterEach(async () => {
    for (const cleanup of pending.splice(0).reverse()) await cleanup();
  });
  return (...cleanups) => void pending.push(...cleanups);
}
