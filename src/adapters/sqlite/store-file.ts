/**
 * DATA_DIR/store.sqlite, used by several processes at once: the service, and the command line beside it. Commits are
 * durable (WAL, synchronous=FULL: one fsync a commit). Those of this process wake its listeners at once; those of others
 * are noticed by a look at data_version, a counter in shared memory, every 10 ms and only while somebody listens.
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { GroupCommit } from './group-commit.js';
import { openFile, type SqliteFile } from './open-file.js';
import { STORE_SCHEMA } from './schema.js';

const LOOK_EVERY_MS = 10;

/** @param touched what changed; null: another process wrote, so anything may have. */
export type ChangeListener = (touched: ReadonlySet<string> | null) => void;

export class StoreFile {
  readonly file: SqliteFile;
  readonly dataDir: string;
  /** Drawn once for a file: positions of another file are not taken for its own. */
  readonly storeId: string;
  readonly #commits: GroupCommit;
  readonly #listeners = new Set<ChangeListener>();
  #looking: NodeJS.Timeout | null = null;
  #seenVersion = 0;

  constructor(dataDir: string) {
    this.dataDir = dataDir;
    this.file = openFile(join(dataDir, 'store.sqlite'));
    this.file.pragma('journal_mode = WAL');
    this.file.pragma('synchronous = FULL');
    this.file.transaction(() => this.file.exec(STORE_SCHEMA)).immediate();
    this.storeId = this.#readStoreId();
    this.#commits = new GroupCommit(this.file, (touched) => this.#notify(touched));
  }

  /** Resolves with what `work` returned, once it is durable; rejects with what it threw, or with SQLite's error. */
  write<T>(touches: string, work: () => T): Promise<T> {
    return this.#commits.write(touches, work);
  }

  /** Calls the listener after every commit, until the returned function is called. */
  onChange(listener: ChangeListener): () => void {
    this.#listeners.add(listener);
    if (!this.#looking) {
      this.#seenVersion = this.#version();
      this.#looking = setInterval(() => this.#look(), LOOK_EVERY_MS);
    }
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.#stopLooking();
    };
  }

  close(): void {
    if (!this.file.open) return;
    this.#commits.flush();
    this.#stopLooking();
    this.#listeners.clear();
    this.file.close();
  }

  #readStoreId(): string {
    const id = randomBytes(6).toString('hex');
    this.file.prepare("INSERT OR IGNORE INTO meta (name, value) VALUES ('store-id', ?)").run(id);
    return this.file.prepare("SELECT value FROM meta WHERE name = 'store-id'").pluck().get() as string;
  }

  #version(): number {
    return this.file.pragma('data_version', { simple: true }) as number;
  }

  #look(): void {
    const version = this.#version();
    if (version === this.#seenVersion) return;
    this.#seenVersion = version;
    this.#notify(null);
  }

  #notify(touched: ReadonlySet<string> | null): void {
    for (const listener of [...this.#listeners]) listener(touched);
  }

  #stopLooking(): void {
    if (this.#looking) clearInterval(this.#looking);
    this.#looking = null;
  }
}
