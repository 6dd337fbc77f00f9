/**
 * Writing without waiting for the disk. What is written so outlives the process, however that ends, but where the machine
 * goes down parts of it may be lost. So the file tells in which boot of the machine it is written; that is cleared when
 * all of it is on the disk, and one that was left open in another boot is not to be used.
 */
import { readFileSync } from 'node:fs';
import { codeOf, type SqliteFile } from './open-file.js';

/** Where the system has no such id: nothing that was left open is used again. */
const UNKNOWN = 'unknown';

/** False for a file that was left open when the machine went down. */
export function writeUnsynced(file: SqliteFile, boot: string = bootId()): boolean {
  file.exec('CREATE TABLE IF NOT EXISTS left_open (boot TEXT NOT NULL)');
  const left = file.prepare('SELECT boot FROM left_open').pluck().get();
  if (left !== undefined && (left !== boot || left === UNKNOWN)) return false;
  try {
    if (left === undefined) onDisk(file, `INSERT INTO left_open (boot) VALUES ('${boot}')`);
    file.pragma('synchronous = OFF');
  } catch (error) {
    // A full disk: until there is room again nothing is written, and then in the safe way.
    if (codeOf(error) !== 'SQLITE_FULL') throw error;
  }
  return true;
}

/** Never throws: a file that stays marked is used again in this boot of the machine, and not in another. */
export function endUnsynced(file: SqliteFile): void {
  try {
    // First all of it, then the word that it is all there.
    onDisk(file, 'UPDATE left_open SET boot = boot');
    onDisk(file, 'DELETE FROM left_open');
  } catch {
    // The disk is full, or the file is damaged: whoever opens it next will see.
  }
}

/** A checkpoint that has something to write brings the whole file to the disk, with what was written before unsynced. */
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
