import { join } from 'node:path';
import Database from 'better-sqlite3';
import { isBusy, makePrivateFile } from './files.js';

/**
 * The right to consume a topic for a group: an exclusive lock on a small file of its own in DATA_DIR.
 *
 * It is the operating system's lock, taken through SQLite, because the system releases it at the moment its process
 * dies, by kill -9 too. A lease by the clock would have to run out first, and would be lost by a process that was only
 * slow; a process id in a table may belong to another process by now, or to another container.
 * The file is never written to and never removed: to remove it while it is held would let a second holder in.
 */
export class GroupLock {
  readonly #path: string;
  #db: Database.Database | undefined;

  constructor(dataDir: string, group: string, topic: string) {
    // '@' does not occur in what encodeURIComponent gives, so no two pairs share a file.
    this.#path = join(dataDir, `consumer-${encodeURIComponent(group)}@${encodeURIComponent(topic)}.lock`);
  }

  /** False where another consumer, of this process or another, has it. @throws where the file can't be used */
  tryAcquire(): boolean {
    this.#db ??= this.#open();
    try {
      this.#db.exec('BEGIN EXCLUSIVE');
      return true;
    } catch (error) {
      if (isBusy(error)) return false;
      throw error;
    }
  }

  release(): void {
    this.#db?.close();
    this.#db = undefined;
  }

  #open(): Database.Database {
    makePrivateFile(this.#path);
    return new Database(this.#path, { timeout: 0 });
  }
}
