/** The rows of an account with an id or a reference, and the blocks in which it has rows. */
import type { Steps } from '../../../ports/deliveries-view.js';
import type { Statements } from '../statements.js';
import type { Asking, Source } from './lists.js';
import { BLOCK } from './schema.js';

/** Rows that are examined for one id or reference, which many payments may share. */
const MAX_ROWS = 1_000;
const BLOCKS_PER_STEP = 250;

const BLOCKS = `SELECT block FROM blocks WHERE tableName = @tableName AND accountId = @accountId AND block < @before
  ORDER BY block DESC LIMIT +${BLOCKS_PER_STEP}`;

const INDEXES = {
  events: { eventId: 'eventsById', reference: 'eventsByReference' },
  deliveries: { id: 'deliveriesById' },
} as const;

/** SQL: the newest rows with the text in some blocks. */
function rowsIn(table: keyof typeof INDEXES, column: string): string {
  const index = (INDEXES[table] as Readonly<Record<string, string>>)[column];
  return `SELECT row FROM json_each(@blocks) AS block CROSS JOIN ${table} INDEXED BY ${index}
    ON ${BLOCK} = block.value AND accountId = @accountId AND ${table}.${column} = @text LIMIT +@most`;
}

/** One statement for all accounts: with one for each, blocks were a tenth of a fold's CPU. */
const ADD_BLOCKS = 'INSERT OR IGNORE INTO blocks SELECT @tableName, value, @block FROM json_each(@accounts)';
const ROWS_PER_BLOCK = 2 ** 13;

/** Blocks of the rows that a batch adds to a table. */
export class NewBlocks {
  readonly #table: keyof typeof INDEXES;
  /** Accounts by block: a batch is in one or two. */
  readonly #accounts = new Map<number, Set<number>>();

  constructor(table: keyof typeof INDEXES) {
    this.#table = table;
  }

  add(accountId: number, row: number): void {
    const block = Math.floor(row / ROWS_PER_BLOCK);
    const accounts = this.#accounts.get(block);
    if (accounts) accounts.add(accountId);
    else this.#accounts.set(block, new Set([accountId]));
  }

  store(sql: Statements): void {
    for (const [block, accounts] of this.#accounts) {
      sql.run(ADD_BLOCKS, { tableName: this.#table, block, accounts: JSON.stringify([...accounts]) });
    }
  }
}

/** @returns numbers of rows, to be checked again: the newest 1,000 */
export function* rowsWith<Table extends keyof typeof INDEXES>(
  sql: Statements,
  { accountId }: Pick<Asking, 'accountId'>,
  table: Table,
  column: keyof (typeof INDEXES)[Table] & string,
  text: string,
): Steps<readonly number[]> {
  const found: number[] = [];
  for (let before = Number.MAX_SAFE_INTEGER; ; ) {
    const asked = { tableName: table, accountId, before };
    const blocks = sql.rows<{ block: number }>(BLOCKS, asked).map(({ block }) => block);
    const most = MAX_ROWS - found.length;
    const rows = sql.rows<{ row: number }>(rowsIn(table, column), { accountId, blocks, text, most });
    found.push(...rows.map(({ row }) => row));
    before = blocks.at(-1) ?? 0;
    if (blocks.length < BLOCKS_PER_STEP || found.length === MAX_ROWS) return found;
    yield;
  }
}

/** SQL: events whose numbers are in @found. */
export const FOUND_EVENTS: Source = {
  from: 'json_each(@found) AS found CROSS JOIN events ON events.row = found.value',
  where: 'events.accountId = @accountId',
  by: 'events',
};
