/** A SQLite file that counts what some of its statements read. */
import type { SqliteFile } from '../../../src/adapters/sqlite/open-file.js';
import { withMethods } from '../with-methods.js';

export class CountedReads {
  calls = 0;
  rows = 0;
  readonly file: SqliteFile;

  /** @param isCounted by the statement's text */
  constructor(file: SqliteFile, isCounted: (sql: string) => boolean) {
    const prepare = (sql: string) => (isCounted(sql) ? this.#counted(file.prepare(sql)) : file.prepare(sql));
    this.file = withMethods(file, { prepare: prepare as SqliteFile['prepare'] });
  }

  #counted(statement: ReturnType<SqliteFile['prepare']>) {
    const all = (...values: unknown[]) => {
      const rows: unknown[] = (statement.all as (...of: unknown[]) => unknown[]).apply(statement, values);
      this.calls += 1;
      this.rows += rows.length;
      return rows;
    };
    return withMethods(statement, { all });
  }
}
