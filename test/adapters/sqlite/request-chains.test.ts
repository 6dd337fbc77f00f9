import { truncateSync, writeFileSync } from 'node:fs';
import { driver } from '../../../src/adapters/sqlite/open-file.js';
import { openRequestChains, removeCorruptRequestChains } from '../../../src/adapters/sqlite/request-chains.js';
import { type RequestChains, RequestChainsDamaged, RequestChainsUnusable } from '../../../src/ports/request-chains.js';
import { damageFile } from '../../support/scenes/sqlite-subjects.js';
import { SqliteFolder } from '../../support/servers/sqlite-folder.js';

const ORIGIN = 'a history webhooks.requests';
const POSITION = { offset: 3, before: { offset: 2, timestamp: 1_000 } };

let folder: SqliteFolder;
let damaged: string[];
beforeEach(() => {
  folder = new SqliteFolder();
  damaged = [];
});
afterEach(() => folder.close());

const path = () => `${folder.dataDir}/requests.sqlite`;
const payment = (offset: number) => `payment-events/0/${offset}@1790000000000`;
const requested = (chain: number, offset = 7, delivery = 'msg_1') => ({
  ...{ delivery, payment: payment(offset), chain, at: chain * 10 },
});

function open(origin = ORIGIN): RequestChains {
  const chains = openRequestChains(folder.dataDir, (file) => damaged.push(file));
  folder.onClose(() => chains.close());
  chains.open(origin);
  return chains;
}

/** Rows enough for many pages. */
function fill(chains: RequestChains): void {
  const all = Array.from({ length: 2_000 }, (_, n) => requested(n + 1, n, `msg_${n}`));
  chains.add(all, POSITION);
}

describe('the chains of requests', () => {
  it('are not read for a payment that no request names', () => {
    const chains = open();
    chains.add([requested(5)], POSITION);
    chains.close();
    const sql = new (driver())(path());
    // As if another payment were named.
    sql.exec('UPDATE chains SET bit = bit + 1');
    sql.close();
    expect(open().latest('msg_1', payment(7))).toBe(0);
  });

  it('refuse every use once they are closed', () => {
    const chains = open();
    chains.close();
    expect(() => chains.latest('msg_1', payment(7))).toThrow(RequestChainsUnusable);
  });
});

describe('a file of requests', () => {
  const changed = (sql: string) => {
    const file = new (driver())(path());
    file.exec(sql);
    file.close();
  };
  it.each([
    ['damaged at its beginning', () => damageFile(path(), 0)],
    ['not of SQLite', () => writeFileSync(path(), 'this is a text file, and not a short one at that. '.repeat(100))],
    ['cut off within its first pages', () => truncateSync(path(), 6_000)],
    ["another program's SQLite file", () => changed('PRAGMA application_id = 7; CREATE TABLE theirs (a)')],
    ['of another schema version', () => changed('PRAGMA user_version = 99')],
  ])('that is %s is deleted, reported and empty again', (_, damage) => {
    const first = open();
    fill(first);
    first.close();
    damage();
    const again = open();
    expect([damaged, again.position, again.lowest]).toEqual([['requests.sqlite'], null, null]);
    fill(again);
    expect(again.latest('msg_1999', payment(1_999))).toBe(2_000);
  });

  it('that is damaged inside is deleted and reported before it is opened, by the check at the start', async () => {
    const first = open();
    fill(first);
    first.close();
    damageFile(path(), 40 * 1024);
    await removeCorruptRequestChains(folder.dataDir, (file) => damaged.push(file));
    const chains = open();
    expect([damaged, chains.position, chains.lowest]).toEqual([['requests.sqlite'], null, null]);
  });

  it('that is intact is left by the check at the start', async () => {
    const first = open();
    fill(first);
    first.close();
    await removeCorruptRequestChains(folder.dataDir, (file) => damaged.push(file));
    expect([damaged, open().position]).toEqual([[], POSITION]);
  });

  it('that is damaged inside says so in use, and is whole after it was cleared', () => {
    const first = open();
    fill(first);
    first.close();
    damageFile(path(), 40 * 1024);
    const chains = open();
    const readAll = () => Array.from({ length: 2_000 }, (_, n) => chains.latest(`msg_${n}`, payment(n)));
    expect(readAll).toThrow(RequestChainsDamaged);
    chains.clear();
    expect([chains.position, chains.lowest, new Set(readAll())]).toEqual([null, null, new Set([0])]);
    fill(chains);
    expect(readAll()).toContain(2_000);
  });
});
