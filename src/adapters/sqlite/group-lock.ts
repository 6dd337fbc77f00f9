/**
 * One consumer of a group works at a time, over all processes. The lock is an open exclusive transaction on a file of
 * its own: the operating system lets go of it when the process dies, kill -9 too, so there is no clock, no lease and
 * nothing to clean up. The others look every 50 ms whether it is free.
 */
import { join } from 'node:path';
import { isBusy, openFile, type SqliteFile } from './open-file.js';

const LOOK_EVERY_MS = 50;

export class GroupLock {
  readonly #path: string;
  readonly #taken: () => void;
  #file: SqliteFile | null = null;
  #timer: NodeJS.Timeout | null = null;

  constructor(dataDir: string, group: string, taken: () => void) {
    this.#path = join(dataDir, `group-${encodeURIComponent(group)}.lock`);
    this.#taken = taken;
  }

  /** Takes it now or as soon as it is free; then `taken` is called. @throws an error of fs or SQLite */
  acquire(): void {
    this.#file = openFile(this.#path, 0);
    try {
      this.#take(this.#file);
    } catch (error) {
      if (!isBusy(error)) throw error;
      this.#lookAgain(this.#file);
    }
  }

  release(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#file?.close();
    this.#file = null;
  }

  #take(file: SqliteFile): void {
    file.exec('BEGIN EXCLUSIVE');
    try {
      this.#taken();
    } catch (error) {
      file.exec('ROLLBACK');
      throw error;
    }
  }

  /** Whatever stands against it, it is looked at again: nobody is there to be told. */
  #lookAgain(file: SqliteFile): void {
    this.#timer = setTimeout(() => {
      try {
        this.#take(file);
      } catch {
        this.#lookAgain(file);
      }
    }, LOOK_EVERY_MS);
  }
}
