import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * Jest's runner keeps the running test in an AsyncLocalStorage for each test file. Up to Node 22 each of them is told of
 * every promise, which costs 9 to 25 % of the processor time of tests with many, and jest never lets go of them, so a
 * worker's fiftieth file paid for fifty. Tests that run one after the other need no storage: a field says which one runs.
 * Only tests that run concurrently use the storage.
 *
 * @returns {() => void} to be called after the file: lets go of its storages
 */
export function watchRunningTest() {
  const { run } = AsyncLocalStorage.prototype;
  /** @type {Map<AsyncLocalStorage, RunningTest>} */
  const fields = new Map();
  AsyncLocalStorage.prototype.run = function watched(store, callback, ...args) {
    if (!isOfJest(store)) return run.call(this, store, callback, ...args);
    const field = fields.get(this) ?? new RunningTest(this, run);
    fields.set(this, field);
    return field.run(store, callback);
  };
  return () => {
    AsyncLocalStorage.prototype.run = run;
    for (const storage of fields.keys()) storage.disable();
  };
}

class RunningTest {
  #storage;
  #run;
  #store;

  constructor(storage, run) {
    this.#storage = storage;
    this.#run = run;
    const { getStore } = storage;
    storage.getStore = () => getStore.call(storage) ?? this.#store;
  }

  /** @param {{test?: object, hook?: object}} store jest's; @param {() => Promise<unknown>} callback */
  async run(store, callback) {
    const outer = this.#store;
    const isConcurrent = outer !== undefined && outer.test !== store.test;
    if (isConcurrent) return this.#run.call(this.#storage, store, callback);
    this.#store = store;
    try {
      return await callback();
    } finally {
      this.#store = outer;
    }
  }
}

function isOfJest(store) {
  return typeof store === 'object' && store !== null && ('test' in store || 'hook' in store);
}
