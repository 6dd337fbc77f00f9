/**
 * Writing without waiting for the disk. Such writes survive the process, however it ends, but a machine crash may lose parts
 * of them. So the file records the machine's boot id while it is open for writing, and clears the id when everything is on
 * disk. A file left open in another boot must not be used.
 */
import { readFileSync } from 'node:fs';
import { codeOf, type SqliteFile } from './open-file.js';

/** If the system has no boot id: no file left open is used again. */
const UNKNOWN = 'unknown';

/** False for a file that was open when the machine went down. */
export function writeUnsynced(file: SqliteFile, boot: string = bootId()): boolean {
  file.exec('CREATE TABLE IF NOT EXISTS left_open (boot TEXT NOT NULL)');
  const left = file.prepare('SELECT boot FROM left_open').pluck().get();
  if (left !== undefined && (left !== boot || left === UNKNOWN)) return false;
  try {
    if (left === undefined) onDisk(file, `INSERT INTO left_open (boot) VALUES ('${boot}')`);
    file.pragma('synchronous = OFF');
  } catch (error) {
    // A full disk: nothing is written until there is room again, and then with sync.
    if (codeOf(error) !== 'SQLITE_FULL') throw error;
  }
  return true;
}

/** Never throws: a file that stays marked is usable in this boot of the machine, but not in another. */
export function endUnsynced(file: SqliteFile): void {
  try {
    // First the data, then the mark that it is complete.
    onDisk(file, 'UPDATE left_open SET boot = boot');
    onDisk(file, 'DELETE FROM left_open');
  } catch {
    // The disk is full, or the file is damaged: the next open detects it.
  }
}

/** A checkpoint with something to write flushes the whole file to disk, including earlier unsynced writes. */
function onDisk(file: SqliteFile, statement: string): void {
  file.pragma('synchronous = FULL');
  file.exec(statement);
  file.pragma('wal_checkpoint(TRUNCATE)');
}

function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return UNKNOWN;
  }
}
