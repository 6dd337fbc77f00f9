/** Scratch tables in SQLite: a file that only its owner can read, without a name once it is open, so a kill leaves nothing. */
import { mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { type Scratch, ScratchUnusable, type ScratchValue } from '../../ports/scratch.js';
import { codeOf, openFile, type SqliteFile, type SqliteStatement } from './open-file.js';

const CACHE_KIB = 96 * 1024;

export class ScratchFile implements Scratch {
  readonly #file: SqliteFile;
  readonly #prepared = new Map<string, SqliteStatement>();

  constructor(file: SqliteFile) {
    this.#file = file;
    // One transaction that never ends: nothing has to survive, so there is no journal and no sync.
    file.exec(
      `PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;
       PRAGMA cache_size = -${CACHE_KIB}; PRAGMA temp_store = MEMORY; BEGIN EXCLUSIVE`,
    );
  }

  /** @param folder exists @param bytes that it needs at most @throws ScratchUnusable if there is no room for them */
  static open(folder: string, bytes = 0): ScratchFile {
    return translated(() => {
      const { bavail, bsize } = statfsSync(folder);
      if (bavail * bsize < bytes)
        throw new ScratchUnusable(
          `${folder} has ${inMiB(bavail * bsize)} free, and ${inMiB(bytes)} may be needed${REMEDY}`,
        );
      const own = mkdtempSync(join(folder, 'account-webhooks-'));
      try {
        return new ScratchFile(openFile(join(own, 'scratch.sqlite')));
      } finally {
        rmSync(own, { recursive: true });
      }
    });
  }

  define(sql: string): void {
    translated(() => this.#file.exec(sql));
  }

  run(sql: string, ...values: readonly ScratchValue[]): void {
    translated(() => this.#statement(sql).run(...values));
  }

  *rows<Row>(sql: string, ...values: readonly ScratchValue[]): IterableIterator<Row> {
    yield* this.#statement(sql).iterate(...values) as IterableIterator<Row>;
  }

  row<Row>(sql: string, ...values: readonly ScratchValue[]): Row | undefined {
    return translated(() => this.#statement(sql).get(...values)) as Row | undefined;
  }

  close(): void {
    this.#file.close();
  }

  #statement(sql: string): SqliteStatement {
    const known = this.#prepared.get(sql) ?? this.#file.prepare(sql);
    this.#prepared.set(sql, known);
    return known;
  }
}

const REMEDY = ': name a folder with more room with --scratch';

export function inMiB(bytes: number): string {
  return `${Math.ceil(bytes / 1024 ** 2)} MiB`;
}

function translated<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    const code = codeOf(error);
    if (/^(SQLITE_(FULL|IOERR)|ENOSPC)/.test(code))
      throw new ScratchUnusable(`the scratch folder is full (${code})${REMEDY}`);
    if (/^E[A-Z]+$/.test(code)) throw new ScratchUnusable(`the scratch folder can't be used (${code})${REMEDY}`);
    throw error;
  }
}
