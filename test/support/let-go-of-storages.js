import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * Jest's runner makes an AsyncLocalStorage for each test file and never lets go of it. Up to Node 22 each of them is told
 * of every promise, so a worker's fiftieth file paid for fifty.
 *
 * @returns {() => void} lets go of those that were used meanwhile
 */
export function watchStorages() {
  const used = new Set();
  const { run } = AsyncLocalStorage.prototype;
  AsyncLocalStorage.prototype.run = function watched(...given) {
    used.add(this);
    return run.apply(this, given);
  };
  return () => {
    AsyncLocalStorage.prototype.run = run;
    for (const storage of used) storage.disable();
  };
}
