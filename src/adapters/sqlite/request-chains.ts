/** The chains of requests in their own file, which can be rebuilt from their topic (disposable-file.ts). */
import { hash } from 'node:crypto';
import type { Position } from '../../ports/broker.js';
import {
  type RequestChains,
  RequestChainsDamaged,
  RequestChainsUnusable,
  type RequestedChain,
} from '../../ports/request-chains.js';
import { type DisposableFile, type FileKind, isDamage, openDisposable, removeIfCorrupt } from './disposable-file.js';
import { bitOf, NamedPayments } from './named-payments.js';
import { codeOf, FileClosed } from './open-file.js';
import { Statements } from './statements.js';

/**
 * - progress: one row, how far the topic of this origin was read, and the record that was read last.
 * - chains: rows of neighboring payments share a page, because requests mostly name payments of one time. By delivery, each
 *   row of a transaction had a page of its own: 30 us of CPU a row instead of 12.
 *   key: 16 bytes of a hash of delivery and payment, instead of 70 bytes of text. bit: named-payments.ts.
 * - chains_in_order: for pruning; the order in which they arrive.
 */
const SCHEMA = `
CREATE TABLE progress (origin TEXT NOT NULL, offset INTEGER, before_offset INTEGER, before_timestamp INTEGER);
CREATE TABLE chains (
  offset INTEGER NOT NULL,
  key BLOB NOT NULL,
  bit INTEGER NOT NULL,
  chain INTEGER NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (offset, key)
) WITHOUT ROWID;
CREATE INDEX chains_in_order ON chains (chain);
`;

const KIND: FileKind = {
  name: 'requests',
  applicationId: 0x61777271, // "awrq"
  shape: 2,
  schema: SCHEMA,
};

export const REQUESTS_FILE = `${KIND.name}.sqlite`;

const PROGRESS = 'SELECT offset, before_offset AS beforeOffset, before_timestamp AS timestamp FROM progress';
const ORIGIN = 'SELECT origin FROM progress';
const BEGIN = 'INSERT INTO progress (origin) VALUES (?)';
const MOVE = 'UPDATE progress SET offset = ?, before_offset = ?, before_timestamp = ?';
const LATEST = 'SELECT chain FROM chains WHERE offset = ? AND key = ?';
const ADD = `INSERT INTO chains (offset, key, bit, chain, at) VALUES (?, ?, ?, ?, ?)
  ON CONFLICT (offset, key) DO UPDATE SET chain = excluded.chain, at = excluded.at WHERE excluded.chain > chain`;
const BITS = 'SELECT offset, key, bit FROM chains WHERE (offset, key) > (?, ?) ORDER BY offset, key LIMIT +?';
const LOWEST = 'SELECT chain FROM chains ORDER BY chain LIMIT 1';
const PRUNE = `DELETE FROM chains WHERE (offset, key) IN
  (SELECT offset, key FROM (SELECT offset, key, at FROM chains WHERE chain <= ? ORDER BY chain LIMIT +?) WHERE at < ?)`;

/** Rows whose bits one lookup adds until all have been added: 0.3 ms. */
const BITS_PER_LOOKUP = 500;

interface Row {
  readonly offset: number;
  readonly key: Buffer;
}

/** Before all rows. */
const START: Row = { offset: -1, key: Buffer.alloc(0) };

interface Opened extends DisposableFile {
  readonly sql: Statements;
  named: NamedPayments;
  /** Up to which row `named` has the bits. */
  collected: Row;
}

/** Call before opening it: deletes a corrupt file. @param onDamaged called with its name @throws DataDirUnusable */
export function removeCorruptRequestChains(dataDir: string, onDamaged: (file: string) => void): Promise<void> {
  return removeIfCorrupt(dataDir, KIND, onDamaged);
}

/** @param onDamaged called with the name of a file that had to be deleted @throws DataDirUnusable */
export function openRequestChains(dataDir: string, onDamaged: (file: string) => void): RequestChains {
  const open = () =>
    openDisposable(dataDir, KIND, onDamaged, (opened): Opened => {
      return { ...opened, sql: new Statements(opened.file), named: new NamedPayments(), collected: START };
    });
  return new SqliteRequestChains(open, open());
}

class SqliteRequestChains implements RequestChains {
  readonly #open: () => Opened;
  /** Null: cleared, and not opened yet. */
  #opened: Opened | null;
  #isClosed = false;
  #origin = '';
  trouble: string | null = null;

  constructor(open: () => Opened, opened: Opened) {
    this.#open = open;
    this.#opened = opened;
  }

  open(origin: string): void {
    this.#origin = origin;
    const found = this.#use(({ sql }) => sql.row<{ origin: string }>(ORIGIN)?.origin ?? null);
    if (found !== null && found !== origin) this.clear();
  }

  get position(): Position | null {
    type Row = { offset: number | null; beforeOffset: number | null; timestamp: number };
    const row = this.#use(({ sql }) => sql.row<Row>(PROGRESS));
    if (!row || row.offset === null) return null;
    const { offset, beforeOffset, timestamp } = row;
    return { offset, before: beforeOffset === null ? null : { offset: beforeOffset, timestamp } };
  }

  latest(delivery: string, payment: string | null): number {
    return this.#use((opened) => {
      const { sql, named } = opened;
      // Called several times for each delivery.
      if (!named.isComplete) collectBits(opened);
      if (!named.mayHave(payment)) return 0;
      return sql.row<{ chain: number }>(LATEST, [offsetOf(payment), keyOf(delivery, payment)])?.chain ?? 0;
    });
  }

  add(chains: readonly RequestedChain[], position: Position | null): void {
    this.#write((opened) => {
      const { sql, named } = opened;
      for (const { delivery, payment, chain, at } of chains) {
        const bit = bitOf(payment);
        sql.run(ADD, [offsetOf(payment), keyOf(delivery, payment), bit, chain, at]);
        named.add(bit);
      }
      if (!sql.row(ORIGIN)) sql.run(BEGIN, [this.#origin]);
      if (position) this.#moveTo(opened, position);
    });
  }

  get lowest(): number | null {
    return this.#use(({ sql }) => sql.row<{ chain: number }>(LOWEST)?.chain ?? null);
  }

  prune(limit: number, { chain, at }: { readonly chain: number; readonly at: number }): number {
    return this.#write((opened) => {
      const pruned = opened.sql.run(PRUNE, [chain, limit, at]).changes;
      if (opened.named.delete(pruned)) Object.assign(opened, { named: new NamedPayments(), collected: START });
      return pruned;
    });
  }

  clear(): void {
    const opened = this.#opened;
    this.#opened = null;
    this.#guarded(() => opened?.discard());
  }

  close(): void {
    this.#isClosed = true;
    this.#opened?.file.close();
  }

  #moveTo({ sql }: Opened, { offset, before }: Position): void {
    sql.run(MOVE, [offset, before?.offset ?? null, before?.timestamp ?? null]);
  }

  #write<T>(work: (opened: Opened) => T): T {
    const result = this.#use((opened) => opened.file.transaction(() => work(opened)).immediate());
    this.trouble = null;
    return result;
  }

  #use<T>(work: (opened: Opened) => T): T {
    return this.#guarded(() => {
      if (this.#isClosed) throw new FileClosed('the file is closed');
      this.#opened ??= this.#open();
      return work(this.#opened);
    });
  }

  #guarded<T>(work: () => T): T {
    try {
      return work();
    } catch (cause) {
      if (isDamage(cause)) throw new RequestChainsDamaged(`${REQUESTS_FILE} is damaged (${codeOf(cause)})`, { cause });
      this.trouble = `${REQUESTS_FILE} can't be used (${codeOf(cause)})`;
      throw new RequestChainsUnusable(this.trouble, { cause });
    }
  }
}

function collectBits(opened: Opened): void {
  const { sql, named, collected } = opened;
  const rows = sql.rows<Row & { bit: number }>(BITS, [collected.offset, collected.key, BITS_PER_LOOKUP]);
  for (const { bit } of rows) named.add(bit);
  opened.collected = rows.at(-1) ?? collected;
  named.isComplete = rows.length < BITS_PER_LOOKUP;
}

function keyOf(delivery: string, payment: string | null): Buffer {
  return hash('sha256', `${delivery} ${payment}`, 'buffer').subarray(0, 16);
}

/** Of topic/partition/offset@ms; 0 for another text, which the key distinguishes too. */
function offsetOf(payment: string | null): number {
  if (payment === null) return 0;
  const end = payment.lastIndexOf('@');
  const offset = Number(payment.slice(payment.lastIndexOf('/', end) + 1, Math.max(end, 0)));
  return Number.isSafeInteger(offset) && offset >= 0 ? offset : 0;
}
