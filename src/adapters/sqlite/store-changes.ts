/**
 * Commits to the store file. Those of this process notify its listeners at once; those of other processes, commands beside
 * the service, are detected by polling data_version, a counter in shared memory, while there is a listener.
 */
import { once } from 'node:events';
import type { SqliteFile, SqliteStatement } from './open-file.js';

const LOOK_EVERY_MS = 10;

/** @param touched what changed; null: another process wrote, so anything may have changed. */
type ChangeListener = (touched: ReadonlySet<string> | null) => void;

export class StoreChanges {
  /** Prepared once: each pragma() creates a statement to garbage-collect, a hundred times a second. */
  readonly #dataVersion: SqliteStatement;
  readonly #listeners = new Set<ChangeListener>();
  #looking: NodeJS.Timeout | null = null;
  #seenVersion = 0;

  constructor(file: SqliteFile) {
    this.#dataVersion = file.prepare('PRAGMA data_version').pluck();
  }

  /** Calls the listener after every commit, until the returned function is called. */
  listen(listener: ChangeListener): () => void {
    this.#listeners.add(listener);
    if (!this.#looking) {
      this.#seenVersion = this.#version();
      this.#looking = setInterval(() => this.#look(), LOOK_EVERY_MS);
    }
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
    if (this.#looking) clearInterval(this.#looking);
    this.#looking = null;
  }

  #look(): void {
    const version = this.#version();
    if (version === this.#seenVersion) return;
    this.#seenVersion = version;
    this.notify(null);
  }

  /** If unreadable now, the last version seen: the next poll detects the change. */
  #version(): number {
    try {
      return this.#dataVersion.get() as number;
    } catch {
      return this.#seenVersion;
    }
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
