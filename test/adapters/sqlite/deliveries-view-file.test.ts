import { copyFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { openDeliveriesView } from '../../../src/adapters/sqlite/deliveries-view.js';
import { driver } from '../../../src/adapters/sqlite/open-file.js';
import { webhookMessageId } from '../../../src/delivery/delivery.js';
import { type AskedCore, askedCore, entries, query } from '../../support/deliveries-view-subject.js';
import { SqliteFolder } from '../../support/sqlite-folder.js';
import { damageFile } from '../../support/sqlite-subjects.js';

const COUNT = 500;

let folder: SqliteFolder;
let damaged: string[];
beforeEach(() => {
  folder = new SqliteFolder();
  damaged = [];
});
afterEach(() => folder.close());

const path = (name = 'deliveries-view.sqlite') => `${folder.dataDir}/${name}`;
const count = (view: AskedCore) => view.page(query()).deliveries.length;

function open(dataDir = folder.dataDir): AskedCore {
  const view = askedCore(openDeliveriesView(dataDir, (file) => damaged.push(file), webhookMessageId));
  folder.onClose(() => view.close());
  return view;
}

function filled(): AskedCore {
  const view = open();
  view.add(entries(COUNT));
  return view;
}

function changed(sql: string): void {
  const file = new (driver())(path());
  file.exec(sql);
  file.close();
}

test.each([
  ['damaged at its beginning', () => damageFile(path(), 0)],
  ['not of SQLite', () => writeFileSync(path(), 'this is a text file, and not a short one at that. '.repeat(100))],
  ["another program's SQLite file", () => changed('PRAGMA application_id = 7; CREATE TABLE theirs (a)')],
  ['of another shape', () => changed('PRAGMA user_version = 99')],
])('a view that is %s is thrown away, told, and begun anew', (_, damage) => {
  const first = filled();
  first.close();
  damage();
  const view = open();
  expect([damaged, count(view), view.id === first.id]).toEqual([['deliveries-view.sqlite'], 0, false]);
  view.add(entries(COUNT));
  view.close();
  expect([count(open()), damaged.length]).toEqual([COUNT, 1]);
});

test('a view that is whole, empty or missing is no damage', () => {
  open().close();
  writeFileSync(path(), '');
  filled().close();
  expect([count(open()), damaged]).toEqual([COUNT, []]);
});

test('what a process that was killed has left is used again: it is all there', () => {
  const { id } = filled();
  const other = new SqliteFolder();
  folder.onClose(() => other.close());
  open(other.dataDir).close();
  for (const suffix of ['', '-wal']) copyFileSync(path() + suffix, `${other.dataDir}/deliveries-view.sqlite${suffix}`);
  const view = open(other.dataDir);
  expect([count(view), view.id, damaged]).toEqual([COUNT, id, []]);
});

test('a view that was closed has nothing outside its file', () => {
  filled().close();
  expect(readdirSync(folder.dataDir)).toEqual(['deliveries-view.sqlite']);
});

test('nobody else on the machine can read it', () => {
  filled();
  for (const name of readdirSync(folder.dataDir)) expect(statSync(path(name)).mode & 0o077).toBe(0);
});

test.each([
  ['by_key', ''],
  ['by_state', 'AND state = 2 AND state <> 0'],
  ['by_answer', 'AND answer = 5 AND answer <> 2'],
])('a page is read from the index %s, without sorting', (index, isRare) => {
  filled().close();
  const file = new (driver())(path(), { readonly: true });
  const plan = file
    .prepare(
      `EXPLAIN QUERY PLAN SELECT attempts FROM deliveries
       WHERE account_id = 42 AND webhook_id = 7 ${isRare} AND first_at >= 0 AND (first_at, id) < (9, '')
       ORDER BY first_at DESC, id DESC`,
    )
    .all() as { detail: string }[];
  file.close();
  expect(plan.map(({ detail }) => detail)).toEqual([expect.stringContaining(`USING INDEX ${index} (account_id=?`)]);
});
