/** SQLite files of DATA_DIR: opens them so that no other user of the machine can read them, and knows them by their header. */
import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname } from 'node:path';
import type Database from 'better-sqlite3';
import { whyDenied } from '../../host/file-access.js';

const BUSY_TIMEOUT_MS = 5_000;
const NOT_BUILT: ReadonlySet<string> = new Set(['ERR_DLOPEN_FAILED', 'MODULE_NOT_FOUND']);

export type SqliteFile = Database.Database;
/**
 * Limits are `LIMIT +?`: SQLite plans by the value of a bare `?`, and so prepares the statement anew at each call. To read an
 * empty page of records took 18 us, and 5 so; a delivery by its id 127, and 32 so.
 */
export type SqliteStatement = Database.Statement;

/**
 * Version 13 is a Node-API module, prebuilt within its package; it crashes on Node.js 20. Version 12 is compiled for one
 * version of Node.js, and aborts 24.19 and later when a statement is garbage-collected. Remove it together with Node.js 20.
 */
export const DRIVER_PACKAGE =
  Number(process.versions.node.split('.')[0]) >= 22 ? 'better-sqlite3' : 'better-sqlite3-node20';

/** Loads the native module when the first file is opened. @throws MODULE_NOT_FOUND if npm left it out */
export function driver(): typeof Database {
  return createRequire(import.meta.url)(DRIVER_PACKAGE) as typeof Database;
}

export class FileClosed extends Error {
  override readonly name = 'FileClosed';
  readonly code = 'CLOSED';
}

/** npm builds version 12 only if install scripts are allowed, and omits optional packages when told to. */
export class SqliteNotBuilt extends Error {
  override readonly name = 'SqliteNotBuilt';
  readonly code = 'SQLITE_NOT_BUILT';
  constructor(cause: unknown) {
    super(`${DRIVER_PACKAGE} is not built for this Node: npm install, then npm rebuild ${DRIVER_PACKAGE}`, { cause });
  }
}

/** SQLite would say SQLITE_CANTOPEN or SQLITE_READONLY; the message names the owner. */
export class NotPermitted extends Error {
  override readonly name = 'NotPermitted';
  readonly code = 'EACCES';
}

/** @throws NotPermitted, SqliteNotBuilt; an error of fs or SQLite, whose code the caller translates */
export function openFile(path: string, busyTimeoutMs: number = BUSY_TIMEOUT_MS): SqliteFile {
  const denied = whyDenied(path);
  if (denied !== null) throw new NotPermitted(denied);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  createPrivate(path);
  return opened(() => new (driver())(path, { timeout: busyTimeoutMs }));
}

/** The file must exist. @throws SqliteNotBuilt, an error of SQLite */
export function openExisting(path: string, busyTimeoutMs: number = BUSY_TIMEOUT_MS): SqliteFile {
  return opened(() => new (driver())(path, { fileMustExist: true, timeout: busyTimeoutMs }));
}

/**
 * Changes a file to WAL, which several processes may do to a new one. SQLite doesn't call its busy handler where a statement
 * that has read the file wants to write (btree.c), so waiting for the other's lock is a transaction of its own.
 */
export function useWal(file: SqliteFile): void {
  for (const until = performance.now() + BUSY_TIMEOUT_MS; ; file.exec('BEGIN IMMEDIATE; COMMIT')) {
    try {
      file.pragma('journal_mode = WAL');
      return;
    } catch (error) {
      if (!isBusy(error) || performance.now() >= until) throw error;
    }
  }
}

/** @throws SqliteNotBuilt, any error of `open` */
export function opened<T>(open: () => T): T {
  try {
    return open();
  } catch (error) {
    const isMissing = error instanceof Error && error.message.startsWith('Could not locate the bindings file');
    throw isMissing || NOT_BUILT.has(codeOf(error)) ? new SqliteNotBuilt(error) : error;
  }
}

/**
 * SQLite gives its -wal and -shm files the mode of the file itself. Unlike 'wx', 'a' creates what a symbolic link points to.
 * An existing file is not opened here: closing any descriptor of a file releases all locks that this process holds on it,
 * SQLite's too (POSIX advisory locks).
 */
function createPrivate(path: string): void {
  if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600));
}

/** The code of an error of SQLite or fs, for messages; never its text, which may contain a path. */
export function codeOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : 'UNKNOWN';
}

/** The file isn't a SQLite file, or is damaged. Retrying won't help. */
export function isCorrupt(error: unknown): boolean {
  return /^SQLITE_(CORRUPT|NOTADB)/.test(codeOf(error));
}

export function isBusy(error: unknown): boolean {
  return codeOf(error).startsWith('SQLITE_BUSY') || codeOf(error).startsWith('SQLITE_LOCKED');
}

/** As in the file's header. */
export interface FileSchema {
  readonly applicationId: number;
  /** The schema version: incremented with every change of the tables, 1 or greater. */
  readonly shape: number;
  readonly schema: string;
}

/** other: ours, of another version. foreign: not one of ours. */
type SchemaFound = 'empty' | 'same' | 'other' | 'foreign';

/** The file is left unchanged; the message names the file, the cause and the remedy. */
export class SchemaRefused extends Error {
  override readonly name = 'SchemaRefused';
  readonly code = 'SCHEMA_REFUSED';
}

export function schemaFound(file: SqliteFile, { applicationId, shape }: FileSchema): SchemaFound {
  const [mark, version] = [read(file, 'application_id'), read(file, 'user_version')];
  const first = file.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' LIMIT 1");
  if (mark === 0 && version === 0 && first.get() === undefined) return 'empty';
  if (mark !== applicationId) return 'foreign';
  return version === shape ? 'same' : 'other';
}

/** Call within a transaction: tables and header are written together. */
export function makeSchema(file: SqliteFile, { applicationId, shape, schema }: FileSchema): void {
  file.exec(schema);
  file.pragma(`application_id = ${applicationId}`);
  file.pragma(`user_version = ${shape}`);
}

/** Writes nothing. @throws SchemaRefused for a file of a release with other tables, or one that isn't ours */
export function mustBeTaken(file: SqliteFile, schema: FileSchema): void {
  const found = schemaFound(file, schema);
  const name = basename(file.name);
  if (found === 'foreign') {
    throw new SchemaRefused(`${name} is a SQLite file of another program: check DATA_DIR`);
  }
  if (found === 'other') {
    const version = read(file, 'user_version');
    const versions = `${name} has schema version ${version}, and this release uses version ${schema.shape}`;
    throw new SchemaRefused(`${versions}: run the release that wrote it`);
  }
}

function read(file: SqliteFile, pragma: 'application_id' | 'user_version'): number {
  return file.pragma(pragma, { simple: true }) as number;
}
