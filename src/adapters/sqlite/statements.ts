/**
 * Statements of a file, each prepared once for its text. Values are given in their order, or by their names in the text; those
 * of questions may be lists, which SQL reads as JSON.
 */
import type { SqliteFile, SqliteStatement } from './open-file.js';

export type Value = number | string | Buffer | null;
type Values = readonly Value[] | Readonly<Record<string, unknown>>;

export class Statements {
  readonly #file: SqliteFile;
  readonly #prepared = new Map<string, SqliteStatement>();

  constructor(file: SqliteFile) {
    this.#file = file;
  }

  run(sql: string, values: Values = []): { readonly changes: number; readonly lastInsertRowid: number | bigint } {
    return this.#of(sql).run(values);
  }

  /** The first row. */
  row<Row>(sql: string, values: Values = []): Row | undefined {
    return this.#of(sql).get(withJson(values)) as Row | undefined;
  }

  rows<Row>(sql: string, values: Values = []): Row[] {
    return this.#of(sql).all(withJson(values)) as Row[];
  }

  /** As they are asked for. Nothing may be written before the iteration has ended. */
  each<Row>(sql: string, values: Values = []): IterableIterator<Row> {
    return this.#of(sql).iterate(withJson(values)) as IterableIterator<Row>;
  }

  #of(sql: string): SqliteStatement {
    const known = this.#prepared.get(sql) ?? this.#file.prepare(sql);
    this.#prepared.set(sql, known);
    return known;
  }
}

function withJson(values: Values): Values {
  if (Array.isArray(values)) return values;
  const all = Object.entries(values);
  return Object.fromEntries(all.map(([name, value]) => [name, Array.isArray(value) ? JSON.stringify(value) : value]));
}
