/**
 * Commits to the store file. Those of this process notify its listeners at once. Those of other processes, commands beside
 * the service, are detected by data_version, a counter in shared memory, while there is a listener: it is read often for a
 * second after a write to the -wal file, which precedes the commit by a sync, and else once a second. Read often all the
 * time, it took most of the 1.2 % of a core that an idle service used.
 *
 * Hazard: a watch misses writes (some file systems, a full queue), or can't be had (a limit of the system). So the counter is
 * read all the same. SQLite truncates the -wal file in place; it deletes it with the last connection, which is not before ours.
 */
import { once } from 'node:events';
import { type FSWatcher, watch } from 'node:fs';
import type { SqliteFile, SqliteStatement } from './open-file.js';

const FIRST_LOOK_MS = 1;
const OFTEN_MS = 10;
const SELDOM_MS = 1_000;
/** A sync seldom takes longer. */
const STIRRED_MS = 1_000;

/** @param touched what changed; null: another process wrote, so anything may have changed. */
type ChangeListener = (touched: ReadonlySet<string> | null) => void;

export class StoreChanges {
  readonly #walPath: string;
  /** Prepared once: each pragma() creates a statement to garbage-collect, a hundred times a second. */
  readonly #dataVersion: SqliteStatement;
  readonly #listeners = new Set<ChangeListener>();
  /** Null where the file can't be watched. */
  #watcher: FSWatcher | null = null;
  #stirredAt = 0;
  #looking: NodeJS.Timeout | null = null;
  #pauseMs = SELDOM_MS;
  #seenVersion = 0;

  constructor(file: Pick<SqliteFile, 'name' | 'prepare'>) {
    this.#walPath = `${file.name}-wal`;
    this.#dataVersion = file.prepare('PRAGMA data_version').pluck();
  }

  /** Calls the listener after every commit, until the returned function is called. */
  listen(listener: ChangeListener): () => void {
    this.#listeners.add(listener);
    if (!this.#looking) this.#begin();
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
    this.#watcher?.close();
    this.#watcher = null;
    if (this.#looking) clearTimeout(this.#looking);
    this.#looking = null;
    this.#pauseMs = SELDOM_MS;
  }

  #begin(): void {
    try {
      this.#watcher = watch(this.#walPath, () => this.#stirred()).on('error', () => this.#unwatched());
    } catch {
      this.#watcher = null;
    }
    this.#seenVersion = this.#version();
    this.#stirred();
  }

  #unwatched(): void {
    this.#watcher = null;
    if (this.#looking) this.#stirred();
  }

  /** Writes of this process stir it too: looks are no more frequent under load than every 10 ms. */
  #stirred(): void {
    this.#stirredAt = performance.now();
    if (this.#pauseMs === SELDOM_MS) this.#lookIn(FIRST_LOOK_MS);
  }

  #lookIn(ms: number): void {
    if (this.#looking) clearTimeout(this.#looking);
    this.#pauseMs = ms;
    this.#looking = setTimeout(() => this.#look(), ms);
  }

  #look(): void {
    const isStirred = !this.#watcher || performance.now() - this.#stirredAt < STIRRED_MS;
    this.#lookIn(isStirred ? Math.min(2 * this.#pauseMs, OFTEN_MS) : SELDOM_MS);
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
