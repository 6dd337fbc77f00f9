/** Tables in a temporary file, for commands whose answer may take more room than memory has. One connection, one user. */
type Values = Readonly<Record<string, number | string | null>>;

/** Statements are prepared once per text; `values` are named in it, as $name. Each may throw ScratchUnusable. */
export interface Scratch {
  /** Statements without values: tables, views. */
  define(sql: string): void;
  run(sql: string, values?: Values): void;
  /** Nothing may be written before the iteration has ended. */
  rows<Row>(sql: string, values?: Values): Iterable<Row>;
  /** The first row. */
  row<Row>(sql: string, values?: Values): Row | undefined;
  /** Removes everything. */
  close(): void;
}

/** Its folder can't be written to, or is full; the message names the remedy. */
export class ScratchUnusable extends Error {
  override readonly name = 'ScratchUnusable';
  readonly code = 'SCRATCH_UNUSABLE';
}
