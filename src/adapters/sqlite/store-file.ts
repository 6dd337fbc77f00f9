/**
 * DATA_DIR/store.sqlite, used by several processes at once: the service, and the command line beside it. Commits are durable
 * (WAL, synchronous=FULL: one fsync per commit). Commits of this process notify its listeners at once; those of other
 * processes are detected by polling data_version, a counter in shared memory, every 10 ms while there is a listener.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { whyDenied } from '../../host/file-access.js';
import { OtherHistory } from '../../ports/event-store.js';
import { makeSchema, mustBeTaken, SchemaRefused, schemaFound } from './file-schema.js';
import { GroupCommit } from './group-commit.js';
import {
  codeOf,
  isCorrupt,
  NotPermitted,
  openFile,
  type SqliteFile,
  SqliteNotBuilt,
  type SqliteStatement,
  useWal,
} from './open-file.js';
import { STORE } from './schema.js';
import { tellDamage } from './tell-damage.js';

const LOOK_EVERY_MS = 10;
/** Once open, waiting for another process blocks the event loop no longer than this; GroupCommit waits by timer. */
const BLOCK_AT_MOST_MS = 20;
/** The largest file that a start checks as a whole: a tenth of a second. */
const LOOKED_AT_BYTES = 64 * 1024 * 1024;
/** The end of a file's name beside a file in which a process met damage: the next start checks it as a whole. */
export const DAMAGED = '.damaged';
/** Bytes to which a longer -wal file is truncated: a running backup makes it grow. */
const LARGEST_WAL = 64 * 1024 * 1024;
const WAY_OUT = 'stop the service and restore a backup, as "A damaged file" in docs/operations.md says';

/** @param touched what changed; null: another process wrote, so anything may have changed. */
export type ChangeListener = (touched: ReadonlySet<string> | null) => void;

/** DATA_DIR can't be used; the message has the error code of the operating system or SQLite, or names who owns the file. */
export class DataDirUnusable extends Error {
  override readonly name = 'DataDirUnusable';
  readonly code = 'DATA_DIR_UNUSABLE';
  constructor(cause: unknown) {
    super(`DATA_DIR can't be used (${whyUnusable(cause)})`, { cause });
  }
}

function whyUnusable(cause: unknown): string {
  if (cause instanceof SqliteNotBuilt || cause instanceof NotPermitted) return cause.message;
  const { path } = cause as NodeJS.ErrnoException;
  return (typeof path === 'string' && whyDenied(path)) || codeOf(cause);
}

/** The file is history and broker, so it can't be rebuilt: the process must end. The message gives the remedy. */
export class StoreDamaged extends Error {
  override readonly name = 'StoreDamaged';
  readonly code = 'STORE_DAMAGED';
  constructor(cause: unknown) {
    super(`store.sqlite is damaged (${codeOf(cause)}): ${WAY_OUT}`, { cause });
  }
}

/** For files of DATA_DIR. @throws DataDirUnusable, SchemaRefused, OtherHistory */
export function inDataDir<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    const saysAll = [SchemaRefused, StoreDamaged, OtherHistory].some((kind) => error instanceof kind);
    throw saysAll ? error : new DataDirUnusable(error);
  }
}

export class StoreFile {
  readonly file: SqliteFile;
  readonly dataDir: string;
  readonly #path: string;
  /** Of the open file: another file may get its name. */
  readonly #inode: number;
  /** Drawn once per file: tells its positions from those of another file. */
  readonly storeId: string;
  readonly #commits: GroupCommit;
  /** Prepared once: each pragma() creates a statement to garbage-collect, a hundred times a second. */
  readonly #dataVersion: SqliteStatement;
  readonly #listeners = new Set<ChangeListener>();
  #tellDamaged: (error: StoreDamaged) => void = () => undefined;
  #looking: NodeJS.Timeout | null = null;
  #seenVersion = 0;

  /** Rejected with StoreDamaged once any statement meets damage. */
  readonly damaged: Promise<never> = new Promise((_, reject) => {
    this.#tellDamaged = reject;
  });

  /**
   * @param busyLimitMs how long another process may hold the write lock before waiting writes are rejected
   * @throws DataDirUnusable, SchemaRefused, StoreDamaged
   */
  constructor(dataDir: string, busyLimitMs?: number) {
    this.dataDir = dataDir;
    this.#path = join(dataDir, 'store.sqlite');
    const { file, inode, storeId, dataVersion } = inDataDir(() => openSound(this.#path));
    this.file = file;
    this.damaged.catch(() => undefined);
    tellDamage(file, (error) => this.#metDamage(error));
    this.#inode = inode;
    this.storeId = storeId;
    this.#dataVersion = dataVersion;
    this.#commits = new GroupCommit(this.file, (touched) => this.#notify(touched), busyLimitMs);
  }

  /**
   * Resolves with the result of `work` once it is durable; rejects with its error, or with SQLite's. `work` may be called
   * twice. `rows`: about how many it writes, called just before; one without it.
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
   * Checks the whole file if that takes only a moment, or if a process met damage in it; in a larger one damage surfaces when
   * a statement meets it.
   * @throws StoreDamaged
   */
  mustBeSound(lookedAtBytes = LOOKED_AT_BYTES): void {
    const mark = this.#path + DAMAGED;
    if (statSync(this.#path).size > lookedAtBytes && !existsSync(mark)) return;
    const found = soundness(this.file);
    if (found !== null) throw new StoreDamaged(found);
    rmSync(mark, { force: true });
  }

  #metDamage(error: unknown): void {
    this.#tellDamaged(new StoreDamaged(error));
    try {
      writeFileSync(this.#path + DAMAGED, '', { mode: 0o600 });
    } catch {
      // The disk takes nothing: the next start ends where this one did, at the damaged page.
    }
  }

  /** True if the file was deleted or replaced: writes to it are lost. */
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

  /** If unreadable now, the last version seen: the next poll detects the change. */
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

/** Null if the file is sound; else the evidence of damage. @throws errors other than damage */
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

function openSound(path: string): OpenStore {
  try {
    return openStore(path);
  } catch (error) {
    throw isCorrupt(error) ? new StoreDamaged(error) : error;
  }
}

/**
 * A complete store is opened without writing, so a command that only reads waits for no lock. Otherwise all writes here are
 * one transaction: it waits once for another process's lock. On failure the file is closed.
 */
function openStore(path: string): OpenStore {
  const file = openFile(path);
  try {
    mustBeTaken(file, STORE);
    useWal(file);
    file.pragma('synchronous = FULL');
    file.pragma(`journal_size_limit = ${LARGEST_WAL}`);
    const storeId = idOf(file) ?? file.transaction(() => prepared(file)).immediate();
    file.pragma(`busy_timeout = ${BLOCK_AT_MOST_MS}`);
    const dataVersion = file.prepare('PRAGMA data_version').pluck();
    return { file, inode: statSync(path).ino, storeId, dataVersion };
  } catch (error) {
    file.close();
    throw error;
  }
}

/** Null if the file is empty. */
function idOf(file: SqliteFile): string | null {
  return schemaFound(file, STORE) === 'same' ? (readId(file) ?? null) : null;
}

function readId(file: SqliteFile): string | undefined {
  return file.prepare("SELECT value FROM meta WHERE name = 'store-id'").pluck().get() as string | undefined;
}

/** @returns the file's own id */
function prepared(file: SqliteFile): string {
  if (schemaFound(file, STORE) === 'empty') makeSchema(file, STORE);
  const id = randomBytes(6).toString('hex');
  file.prepare("INSERT OR IGNORE INTO meta (name, value) VALUES ('store-id', ?)").run(id);
  return readId(file) as string;
}
