/** Tables in a temporary file, for commands whose answer may take more room than memory has. One connection, one user. */
export type ScratchValue = number | string | null;

/** What is written is never read by another process, and never again. Every statement @throws ScratchUnusable */
export interface Scratch {
  /** Statements without values: tables, views. */
  define(sql: string): void;
  /** Prepared once per text. */
  run(sql: string, ...values: readonly ScratchValue[]): void;
  /** Prepared once per text. Nothing may be written before the iteration has ended. */
  rows<Row>(sql: string, ...values: readonly ScratchValue[]): IterableIterator<Row>;
  /** The first row. */
  row<Row>(sql: string, ...values: readonly ScratchValue[]): Row | undefined;
  /** Removes everything. Idempotent. */
  close(): void;
}

/** Its folder can't be written to, or is full; the message names the remedy. */
export class ScratchUnusable extends Error {
  override readonly name = 'ScratchUnusable';
  readonly code = 'SCRATCH_UNUSABLE';
}
