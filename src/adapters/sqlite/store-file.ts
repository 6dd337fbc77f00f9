/**
 * DATA_DIR/store.sqlite, used by several processes at once: the service, and the command line beside it. Commits are
 * durable (WAL, synchronous=FULL: one fsync a commit). Those of this process wake its listeners at once; those of others
 * are noticed by a look at data_version, a counter in shared memory, every 10 ms and only while somebody listens.
 */
import { randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { adoptSchema, mustBeTaken, SchemaRefused, schemaFound } from './file-schema.js';
import { GroupCommit } from './group-commit.js';
import { codeOf, isCorrupt, openFile, type SqliteFile, SqliteNotBuilt, type SqliteStatement } from './open-file.js';
import { STORE } from './schema.js';
import { tellDamage } from './tell-damage.js';

const LOOK_EVERY_MS = 10;
/** Once open, a wait for another process blocks the event loop no longer than this; GroupCommit waits by timer. */
const BLOCK_AT_MOST_MS = 20;
/** What a start looks at as a whole: a tenth of a second. */
const LOOKED_AT_BYTES = 64 * 1024 * 1024;
/** Bytes that the -wal file is cut back to, when it was longer: a backup under way lets it grow. */
const LARGEST_WAL = 64 * 1024 * 1024;
const WAY_OUT = 'stop the service and restore a backup, as "A damaged file" in docs/operations.md says';

/** @param touched what changed; null: another process wrote, so anything may have. */
export type ChangeListener = (touched: ReadonlySet<string> | null) => void;

/** look: tables of an earlier release, and its header, are left as they are. */
export type StoreUse = 'work' | 'look';

/** DATA_DIR can't be used; the message says what the operating system or SQLite calls it. */
export class DataDirUnusable extends Error {
  override readonly name = 'DataDirUnusable';
  readonly code = 'DATA_DIR_UNUSABLE';
  constructor(cause: unknown) {
    super(`DATA_DIR can't be used (${cause instanceof SqliteNotBuilt ? cause.message : codeOf(cause)})`, { cause });
  }
}

/** It is history and broker, so nothing can make it again: the process has to end. The message says what to do. */
export class StoreDamaged extends Error {
  override readonly name = 'StoreDamaged';
  readonly code = 'STORE_DAMAGED';
  constructor(cause: unknown) {
    super(`store.sqlite is damaged (${codeOf(cause)}): ${WAY_OUT}`, { cause });
  }
}

/** For files of DATA_DIR. @throws DataDirUnusable, SchemaRefused */
export function inDataDir<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof SchemaRefused || error instanceof StoreDamaged ? error : new DataDirUnusable(error);
  }
}

export class StoreFile {
  readonly file: SqliteFile;
  readonly dataDir: string;
  readonly #path: string;
  /** Of the file that is open: another one may get its name. */
  readonly #inode: number;
  /** Drawn once for a file: positions of another file are not taken for its own. */
  readonly storeId: string;
  readonly #commits: GroupCommit;
  /** Prepared once: a pragma() is a statement for the garbage collector, a hundred times a second. */
  readonly #dataVersion: SqliteStatement;
  readonly #listeners = new Set<ChangeListener>();
  #tellDamaged: (error: StoreDamaged) => void = () => undefined;
  #looking: NodeJS.Timeout | null = null;
  #seenVersion = 0;

  /** Rejected with StoreDamaged once any statement comes upon damage. */
  readonly damaged: Promise<never> = new Promise((_, reject) => {
    this.#tellDamaged = reject;
  });

  /**
   * @param busyLimitMs how long another process may hold the write lock before those who wait are told
   * @throws DataDirUnusable, SchemaRefused, StoreDamaged
   */
  constructor(dataDir: string, busyLimitMs?: number, use: StoreUse = 'work') {
    this.dataDir = dataDir;
    this.#path = join(dataDir, 'store.sqlite');
    const { file, inode, storeId, dataVersion } = inDataDir(() => openSound(this.#path, use));
    this.file = file;
    this.damaged.catch(() => undefined);
    tellDamage(file, (error) => this.#tellDamaged(new StoreDamaged(error)));
    this.#inode = inode;
    this.storeId = storeId;
    this.#dataVersion = dataVersion;
    this.#commits = new GroupCommit(this.file, (touched) => this.#notify(touched), busyLimitMs);
  }

  /**
   * Resolves with what `work` returned, once it is durable; rejects with what it threw, or with SQLite's error. `work` may
   * be called twice. `rows`: about how many it writes, asked just before; one without it.
   */
  write<T>(touches: string, work: () => T, rows?: () => number): Promise<T> {
    return this.#commits.write(touches, work, rows);
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

  /**
   * Looks at all of the file, where that takes no longer than a moment; of a larger one damage is found by whoever comes
   * upon it. @throws StoreDamaged
   */
  mustBeSound(): void {
    if (statSync(this.#path).size > LOOKED_AT_BYTES) return;
    const found = soundness(this.file);
    if (found !== null) throw new StoreDamaged(found);
  }

  /** True where the file was removed, or another one was put in its place: what is written here is lost then. */
  isReplaced(): boolean {
    return statSync(this.#path, { throwIfNoEntry: false })?.ino !== this.#inode;
  }

  close(): void {
    if (!this.file.open) return;
    this.#commits.close();
    this.#stopLooking();
    this.#listeners.clear();
    this.file.close();
  }

  /** Where it can't be read just now, the one seen last: the next look tells. */
  #version(): number {
    try {
      return this.#dataVersion.get() as number;
    } catch {
      return this.#seenVersion;
    }
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

/** Null where it is sound; else what says that it is not. @throws what is no damage */
export function soundness(file: SqliteFile): unknown {
  try {
    const found = file.pragma('quick_check(1)', { simple: true });
    return found === 'ok' ? null : { code: 'SQLITE_CORRUPT' };
  } catch (error) {
    if (isCorrupt(error)) return error;
    throw error;
  }
}

interface OpenStore {
  readonly file: SqliteFile;
  readonly inode: number;
  readonly storeId: string;
  readonly dataVersion: SqliteStatement;
}

function openSound(path: string, use: StoreUse): OpenStore {
  try {
    return openStore(path, use);
  } catch (error) {
    throw isCorrupt(error) ? new StoreDamaged(error) : error;
  }
}

/**
 * A store that is whole is opened without writing, so a command that only reads waits for nobody's lock. Else all that is
 * written here is one transaction: another process's lock is waited for once. Closed where it fails.
 */
function openStore(path: string, use: StoreUse): OpenStore {
  const file = openFile(path);
  try {
    mustBeTaken(file, STORE);
    file.pragma('journal_mode = WAL');
    file.pragma('synchronous = FULL');
    file.pragma(`journal_size_limit = ${LARGEST_WAL}`);
    const storeId = idOf(file) ?? file.transaction(() => prepared(file, use)).immediate();
    file.pragma(`busy_timeout = ${BLOCK_AT_MOST_MS}`);
    const dataVersion = file.prepare('PRAGMA data_version').pluck();
    return { file, inode: statSync(path).ino, storeId, dataVersion };
  } catch (error) {
    file.close();
    throw error;
  }
}

/** Of a store that has this release's schema; null where something is to be written first. */
function idOf(file: SqliteFile): string | null {
  return schemaFound(file, STORE) === 'same' ? (readId(file) ?? null) : null;
}

function readId(file: SqliteFile): string | undefined {
  return file.prepare("SELECT value FROM meta WHERE name = 'store-id'").pluck().get() as string | undefined;
}

/** @returns the file's own id */
function prepared(file: SqliteFile, use: StoreUse): string {
  if (use === 'work' || schemaFound(file, STORE) === 'empty') adoptSchema(file, STORE);
  const id = randomBytes(6).toString('hex');
  file.prepare("INSERT OR IGNORE INTO meta (name, value) VALUES ('store-id', ?)").run(id);
  return readId(file) as string;
}
