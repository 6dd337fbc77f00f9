import { driver, type SqliteFile } from '../../../src/adapters/sqlite/open-file.js';
import { Statements } from '../../../src/adapters/sqlite/statements.js';
import { NewBlocks, rowsWith } from '../../../src/adapters/sqlite/view/found-rows.js';
import { VIEW_SCHEMA } from '../../../src/adapters/sqlite/view/schema.js';
import { ended } from '../../support/scenes/whole-queries.js';

const [LARGE, SMALL] = [1, 2];
const ROWS_PER_BLOCK = 8_192;

let file: SqliteFile;
let sql: Statements;
beforeEach(() => {
  file = new (driver())(':memory:');
  file.exec(VIEW_SCHEMA);
  sql = new Statements(file);
});
afterEach(() => void file.close());

/** One row in each of some blocks. */
function fill(accountId: number, blocks: number, eventId: (block: number) => string): void {
  const add = file.prepare(`INSERT INTO events VALUES (?, ?, 0, ?, ?, 'cash_in', NULL, NULL, NULL, '[]',
    NULL, NULL, NULL, NULL, 0, 0, 0)`);
  const added = new NewBlocks('events');
  file.transaction(() => {
    for (let block = 0; block < blocks; block += 1) {
      const row = block * ROWS_PER_BLOCK + accountId;
      add.run(row, accountId, `in/0/${block}@0`, eventId(block));
      added.add(accountId, row);
    }
    added.store(sql);
  })();
}

const found = (accountId: number, text: string) => ended(rowsWith(sql, { accountId }, 'events', 'eventId', text));
const blocks = (accountId: number) =>
  sql.row<{ n: number }>('SELECT count(*) AS n FROM blocks WHERE accountId = ?', [accountId])?.n;

function stepsOf(accountId: number, text: string): number {
  const steps = rowsWith(sql, { accountId }, 'events', 'eventId', text);
  for (let n = 1; ; n += 1) if (steps.next().done) return n;
}

describe('rows with a text', () => {
  test('are found in all blocks of an account, newest first, some blocks a step', () => {
    fill(LARGE, 600, (block) => (block % 100 === 0 ? 'a' : 'b'));
    expect(found(LARGE, 'a')).toEqual([500, 400, 300, 200, 100, 0].map((block) => block * ROWS_PER_BLOCK + LARGE));
    expect(stepsOf(LARGE, 'a')).toBe(3);
  });

  test('cost an account nothing for the blocks in which it has no row', () => {
    fill(LARGE, 2_000, () => 'a');
    fill(SMALL, 2, () => 'a');
    expect([stepsOf(SMALL, 'a'), found(SMALL, 'a')]).toEqual([1, [ROWS_PER_BLOCK + SMALL, SMALL]]);
  });

  test('stop at 1,000', () => {
    fill(LARGE, 1_500, () => 'a');
    expect(found(LARGE, 'a')).toHaveLength(1_000);
  });

  test('a block is left out once the account has no row in it any more', () => {
    fill(LARGE, 3, () => 'a');
    file.exec(`INSERT INTO events SELECT row + 10, accountId, 1, payment, eventId, eventType, NULL, NULL, NULL, '[]',
      NULL, NULL, NULL, NULL, 0, 0, 0 FROM events WHERE row < ${ROWS_PER_BLOCK}`);
    file.exec(`DELETE FROM events WHERE row = ${LARGE} OR row > ${2 * ROWS_PER_BLOCK}`);
    expect([blocks(LARGE), found(LARGE, 'a')]).toEqual([2, [ROWS_PER_BLOCK + LARGE, LARGE + 10]]);
  });
});
