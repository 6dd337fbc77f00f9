/** Commits to the store file. Those of this process notify its listeners at once; those of others as other-writers.ts says. */
import { once } from 'node:events';
import type { SqliteFile } from './open-file.js';
import { OtherWriters } from './other-writers.js';

/** @param touched what changed; null: another process wrote, so anything may have changed. */
type ChangeListener = (touched: ReadonlySet<string> | null) => void;

export class StoreChanges {
  readonly #others: OtherWriters;
  readonly #listeners = new Set<ChangeListener>();

  constructor(file: Pick<SqliteFile, 'name' | 'prepare'>) {
    this.#others = new OtherWriters(file, () => this.notify(null));
  }

  /** Calls the listener after every commit, until the returned function is called. */
  listen(listener: ChangeListener): () => void {
    if (this.#listeners.size === 0) this.#others.start();
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.close();
    };
  }

  /** Those that touch it: the events, or a topic. */
  of(name: string): ChangesOf {
    return new ChangesOf(this, name);
  }

  notify(touched: ReadonlySet<string> | null): void {
    for (const listener of [...this.#listeners]) listener(touched);
  }

  close(): void {
    this.#listeners.clear();
    this.#others.stop();
  }
}

/** None is missed between two calls of next. */
class ChangesOf {
  readonly #target = new EventTarget();
  readonly close: () => void;
  #changed = false;

  constructor(changes: StoreChanges, name: string) {
    this.close = changes.listen((touched) => {
      if (touched && !touched.has(name)) return;
      this.#changed = true;
      this.#target.dispatchEvent(new Event('change'));
    });
  }

  /** Fulfilled after a change since the last call, or when the signal aborts. */
  async next(signal: AbortSignal): Promise<void> {
    if (!this.#changed && !signal.aborted) await once(this.#target, 'change', { signal }).catch(() => undefined);
    this.#changed = false;
  }
}
