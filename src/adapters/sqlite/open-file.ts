/** Opens a SQLite file that nobody else on the machine can read. */
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';

const BUSY_TIMEOUT_MS = 5_000;

export type SqliteFile = Database.Database;

/** @throws an error of fs or SQLite, whose code the caller translates */
export function openFile(path: string, busyTimeoutMs: number = BUSY_TIMEOUT_MS): SqliteFile {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  // SQLite gives its -wal and -shm files the mode of the file itself.
  closeSync(openSync(path, 'a', 0o600));
  return new Database(path, { timeout: busyTimeoutMs });
}

/** The code of an error of SQLite or fs, for messages; never its text, which may hold a path. */
export function codeOf(error: unknown): string {
  return error instanceof Object && 'code' in error ? String(error.code) : 'UNKNOWN';
}

export function isBusy(error: unknown): boolean {
  return codeOf(error).startsWith('SQLITE_BUSY') || codeOf(error).startsWith('SQLITE_LOCKED');
}
