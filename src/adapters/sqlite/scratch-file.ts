/** Scratch tables in SQLite: a file that only its owner can read, without a name once it is open. */
import { lstatSync, mkdtempSync, readdirSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { type Scratch, ScratchUnusable } from '../../ports/scratch.js';
import { codeOf, openFile, type SqliteFile } from './open-file.js';
import { Statements } from './statements.js';

const NAME = 'account-webhooks-scratch-';
/** Its folder is there for less: an older one was left by a kill. */
const OPENED_WITHIN_MS = 60_000;
const MEBIBYTE = 1024 ** 2;
const REMEDY = ': name another folder with --scratch';

export class ScratchFile implements Scratch {
  readonly #file: SqliteFile;
  readonly #sql: Statements;

  constructor(file: SqliteFile) {
    this.#file = file;
    this.#sql = new Statements(file);
    // One transaction that never ends: nothing has to survive, so there is no journal on disk and no sync.
    this.define(`PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;
      PRAGMA cache_size = -49152; PRAGMA temp_store = MEMORY; BEGIN EXCLUSIVE`);
  }

  /** @param bytes that may be needed @throws ScratchUnusable */
  static open(folder: string, bytes = 0): ScratchFile {
    return translated(() => {
      const { bavail, bsize } = statfsSync(folder);
      const [needed, free] = [Math.ceil(bytes / MEBIBYTE), Math.floor((bavail * bsize) / MEBIBYTE)];
      if (free < needed)
        throw new ScratchUnusable(`${folder} has ${free} MiB free, and ${needed} MiB may be needed${REMEDY}`);
      removeLeft(folder);
      const own = mkdtempSync(join(folder, NAME));
      try {
        return new ScratchFile(openFile(join(own, 'scratch.sqlite')));
      } finally {
        rmSync(own, { recursive: true });
      }
    });
  }

  define(sql: string): void {
    this.#file.exec(sql);
  }

  run(sql: string, values = {}): void {
    translated(() => this.#sql.run(sql, values));
  }

  rows<Row>(sql: string, values = {}): Iterable<Row> {
    return this.#sql.each(sql, values);
  }

  row<Row>(sql: string, values = {}): Row | undefined {
    return this.#sql.row(sql, values);
  }

  close(): void {
    this.#file.close();
  }
}

/** Of this user alone: others can't be removed from a folder that all share. */
function removeLeft(folder: string): void {
  for (const name of readdirSync(folder).filter((one) => one.startsWith(NAME))) {
    const path = join(folder, name);
    const at = lstatSync(path, { throwIfNoEntry: false });
    const isLeft = at && at.uid === process.getuid?.() && Date.now() - at.mtimeMs > OPENED_WITHIN_MS;
    if (isLeft) rmSync(path, { recursive: true, force: true });
  }
}

function translated<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    const code = codeOf(error);
    if (!/^(SQLITE_(FULL|IOERR|CANTOPEN)|E[A-Z]+$)/.test(code)) throw error;
    throw new ScratchUnusable(`the scratch folder is full or can't be used (${code})${REMEDY}`);
  }
}
