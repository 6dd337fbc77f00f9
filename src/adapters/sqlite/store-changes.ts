/**
 * Commits to the store file. Those of this process notify its listeners immediately; those of other processes when OtherWriters
 * detects them: then one query of all ends determines what was appended to, instead of a query by each listener.
 */
import { once } from 'node:events';
import { type FSWatcher, watch } from 'node:fs';
import type { SqliteFile, SqliteStatement } from './open-file.js';

const FIRST_LOOK_MS = 1;
const OFTEN_MS = 10;
const SELDOM_MS = 1_000;
const QUIET_AFTER_MS = 1_000;

/** The ends of the events and of all topics. A topic may be named `events`, too. */
const ENDS = `
  SELECT 'events' AS name, 'history' AS kind, seq AS "end" FROM sqlite_sequence WHERE name = 'events'
  UNION ALL SELECT name, 'topic', next_offset FROM topics`;

/** @param touched what was appended to: `events`, or a topic; null: unknown, because the ends could not be read */
type ChangeListener = (touched: ReadonlySet<string> | null) => void;

export class StoreChanges {
  readonly #others: OtherWriters;
  readonly #listeners = new Set<ChangeListener>();

  constructor(file: Pick<SqliteFile, 'name' | 'prepare'>) {
    const ends = new Ends(file);
    this.#others = new OtherWriters(file, () => this.notify(ends.moved()));
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

class Ends {
  readonly #file: Pick<SqliteFile, 'prepare'>;
  #query: SqliteStatement | null = null;
  #last: ReadonlyMap<string, number> = new Map();

  constructor(file: Pick<SqliteFile, 'prepare'>) {
    this.#file = file;
  }

  /** What was appended to since the last call, in the first one everything; null: the file can't be read now. */
  moved(): ReadonlySet<string> | null {
    try {
      this.#query ??= this.#file.prepare(ENDS);
      const rows = this.#query.all() as { name: string; kind: string; end: number }[];
      const ends = new Map(rows.map(({ name, kind, end }) => [`${kind} ${name}`, end]));
      const moved = rows.filter(({ name, kind, end }) => this.#last.get(`${kind} ${name}`) !== end);
      this.#last = ends;
      return new Set(moved.map(({ name }) => name));
    } catch {
      return null;
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

/**
 * Detects commits to the store file by other processes, commands beside the service, by data_version, a counter in shared
 * memory:
 *
 *   looking often -> at rest: watching the -wal file (after a second without a change) -> looking often (it was written to)
 *
 * Looking every 10 ms all the time took half of the 1.2 % of a core that an idle service used; watching all the time, 20 us
 * for each commit of this process. The file is written to before the commit, which may take longer than a second: hence the
 * look once a second at rest. Hazard: not every file system tells of all writes.
 */
export class OtherWriters {
  readonly #walPath: string;
  /** Prepared once: each pragma() creates a statement to garbage-collect, a hundred times a second. */
  readonly #dataVersion: SqliteStatement;
  readonly #wrote: () => void;
  /** Null while it looks often. */
  #watcher: FSWatcher | null = null;
  #looking: NodeJS.Timeout | undefined;
  #pauseMs = OFTEN_MS;
  #stirredAt = 0;
  #seenVersion = 0;

  constructor(file: Pick<SqliteFile, 'name' | 'prepare'>, wrote: () => void) {
    this.#walPath = `${file.name}-wal`;
    this.#dataVersion = file.prepare('PRAGMA data_version').pluck();
    this.#wrote = wrote;
  }

  start(): void {
    this.#seenVersion = this.#version();
    this.#stirred();
  }

  stop(): void {
    this.#unwatch();
    clearTimeout(this.#looking);
  }

  #stirred(): void {
    this.#unwatch();
    this.#stirredAt = performance.now();
    this.#lookIn(FIRST_LOOK_MS);
  }

  #lookIn(ms: number): void {
    clearTimeout(this.#looking);
    this.#pauseMs = ms;
    this.#looking = setTimeout(() => this.#look(), ms);
  }

  #look(): void {
    // Once more soon after the watch began: a write just before it may be committed just after it.
    this.#lookIn(this.#watcher ? SELDOM_MS : Math.min(2 * this.#pauseMs, OFTEN_MS));
    if (!this.#watcher && performance.now() - this.#stirredAt >= QUIET_AFTER_MS) this.#watch();
    const version = this.#version();
    if (version === this.#seenVersion) return;
    this.#seenVersion = version;
    this.#stirredAt = performance.now();
    this.#wrote();
  }

  /** If that can't be had (a limit of the system), it goes on looking often. */
  #watch(): void {
    const stirred = () => this.#stirred();
    try {
      this.#watcher = watch(this.#walPath, stirred).on('error', stirred);
    } catch {
      this.#stirredAt = performance.now();
    }
  }

  #unwatch(): void {
    this.#watcher?.close();
    this.#watcher = null;
  }

  /** If unreadable now, the last version seen: the next look detects the change. */
  #version(): number {
    try {
      return this.#dataVersion.get() as number;
    } catch {
      return this.#seenVersion;
    }
  }
}
