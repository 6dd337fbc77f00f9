/** DATA_DIR/store.sqlite, used by several processes at once: the service, and the command line beside it. */
import { randomBytes } from 'node:crypto';
import { existsSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { whyDenied } from '../../host/file-access.js';
import { OtherHistory } from '../../ports/event-store.js';
import { GroupCommit } from './group-commit.js';
import {
  codeOf,
  type FileSchema,
  isCorrupt,
  makeSchema,
  mustBeTaken,
  NotPermitted,
  openFile,
  SchemaRefused,
  type SqliteFile,
  SqliteNotBuilt,
  schemaFound,
  useWal,
} from './open-file.js';
import { StoreChanges } from './store-changes.js';

/** Once open, waiting for another process blocks the event loop no longer than this; GroupCommit waits by timer. */
const BLOCK_AT_MOST_MS = 20;
/** The largest file that a start checks as a whole: a tenth of a second. */
const LOOKED_AT_BYTES = 64 * 1024 * 1024;
/** The end of a file's name beside a file in which a process met damage: the next start checks it as a whole. */
export const DAMAGED = '.damaged';
/** Bytes to which a longer -wal file is truncated: a running backup makes it grow. */
const LARGEST_WAL = 64 * 1024 * 1024;
/** Of pages, which the system caches as well. better-sqlite3's default of 16 MiB fills and stays. */
const CACHE_KIB = 2_000;
const WAY_OUT = 'stop the service and restore a backup, as "A damaged file" in docs/operations.md says';

/** store.sqlite: history and broker in one file. "awst" */
export const STORE: FileSchema = {
  applicationId: 0x61777374,
  shape: 4,
  schema: `
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL);

CREATE TABLE events (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  stream TEXT NOT NULL,
  revision INTEGER NOT NULL,
  id TEXT NOT NULL,
  type TEXT NOT NULL,
  data TEXT NOT NULL,
  metadata TEXT NOT NULL,
  UNIQUE (stream, revision)
);

CREATE TABLE topics (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, next_offset INTEGER NOT NULL);

CREATE TABLE records (
  topic INTEGER NOT NULL,
  offset INTEGER NOT NULL,
  key BLOB,
  value BLOB,
  headers TEXT NOT NULL,
  timestamp INTEGER NOT NULL,
  PRIMARY KEY (topic, offset)
);

CREATE TABLE group_offsets (
  group_name TEXT NOT NULL,
  topic INTEGER NOT NULL,
  next_offset INTEGER NOT NULL,
  done_behind TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (group_name, topic)
) WITHOUT ROWID;
`,
};

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
  /** Drawn once per file: tells its positions from those of another file. */
  readonly storeId: string;
  readonly changes: StoreChanges;
  readonly #path: string;
  /** Of the open file: another file may get its name. */
  readonly #inode: number;
  readonly #commits: GroupCommit;
  #reportDamaged: (error: StoreDamaged) => void = () => undefined;

  /** Rejected with StoreDamaged once damage is met. */
  readonly damaged: Promise<never> = new Promise((_, reject) => {
    this.#reportDamaged = reject;
  });

  /** @param busyLimitMs see GroupCommit @throws DataDirUnusable, SchemaRefused, StoreDamaged */
  constructor(dataDir: string, busyLimitMs?: number) {
    this.#path = join(dataDir, 'store.sqlite');
    const { file, inode, storeId } = inDataDir(() => openSound(this.#path));
    this.file = file;
    this.#inode = inode;
    this.storeId = storeId;
    this.changes = new StoreChanges(file);
    this.#commits = new GroupCommit(file, (touched) => this.changes.notify(touched), busyLimitMs);
    this.damaged.catch(() => undefined);
  }

  /** Resolves once durable, or rejects. @param rows about how many it writes */
  write<T>(touches: string, work: () => T, rows?: () => number): Promise<T> {
    const written = this.#commits.write(touches, work, rows);
    written.catch((error) => this.noticeDamage(error));
    return written;
  }

  /** For reads: whoever made them takes an error for a passing outage, and retries without end. */
  noticeDamage(error: unknown): void {
    if (!isCorrupt(error)) return;
    this.#reportDamaged(new StoreDamaged(error));
    try {
      writeFileSync(this.#path + DAMAGED, '', { mode: 0o600 });
    } catch {
      // The disk takes nothing: the next start ends where this one did, at the damaged page.
    }
  }

  whyFailed(cause: unknown, what: string): string {
    this.noticeDamage(cause);
    return isCorrupt(cause) ? new StoreDamaged(cause).message : `${what} can't be used (${codeOf(cause)})`;
  }

  /** Checks a small file, or one in which a process met damage; else damage surfaces in use. @throws StoreDamaged */
  mustBeSound(lookedAtBytes = LOOKED_AT_BYTES): void {
    const mark = this.#path + DAMAGED;
    if (statSync(this.#path).size > lookedAtBytes && !existsSync(mark)) return;
    const found = soundness(this.file);
    if (found !== null) throw new StoreDamaged(found);
    rmSync(mark, { force: true });
  }

  /** True if the file was deleted or replaced: writes to it are lost. */
  isReplaced(): boolean {
    return statSync(this.#path, { throwIfNoEntry: false })?.ino !== this.#inode;
  }

  close(): void {
    if (!this.file.open) return;
    this.#commits.close();
    this.changes.close();
    this.file.close();
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

function openSound(path: string) {
  try {
    return openStore(path);
  } catch (error) {
    throw isCorrupt(error) ? new StoreDamaged(error) : error;
  }
}

/** A complete store is opened without writing: a command that only reads waits for no lock. On failure it is closed. */
function openStore(path: string) {
  const file = openFile(path);
  try {
    mustBeTaken(file, STORE);
    useWal(file);
    file.pragma('synchronous = FULL');
    file.pragma(`journal_size_limit = ${LARGEST_WAL}`);
    file.pragma(`cache_size = ${-CACHE_KIB}`);
    if (schemaFound(file, STORE) === 'empty') file.transaction(() => create(file)).immediate();
    const storeId = file.prepare("SELECT value FROM meta WHERE name = 'store-id'").pluck().get() as string;
    file.pragma(`busy_timeout = ${BLOCK_AT_MOST_MS}`);
    return { file, inode: statSync(path).ino, storeId };
  } catch (error) {
    file.close();
    throw error;
  }
}

/** Another process may just have done it. */
function create(file: SqliteFile): void {
  if (schemaFound(file, STORE) !== 'empty') return;
  makeSchema(file, STORE);
  const id = randomBytes(6).toString('hex');
  file.prepare("INSERT INTO meta (name, value) VALUES ('store-id', ?)").run(id);
}
