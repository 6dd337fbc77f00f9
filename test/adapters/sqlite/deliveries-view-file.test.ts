import { copyFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { driver } from '../../../src/adapters/sqlite/open-file.js';
import { openDeliveriesView, VIEW_FILE } from '../../../src/adapters/sqlite/view/deliveries-view.js';
import { webhookMessageId } from '../../../src/delivery/delivery.js';
import type { ViewCore } from '../../../src/ports/deliveries-view.js';
import { entries, query } from '../../support/deliveries-view-subject.js';
import { ACCOUNT } from '../../support/delivery-samples.js';
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

const path = (name = VIEW_FILE) => `${folder.dataDir}/${name}`;
const count = (view: ViewCore) => view.of({ accountId: ACCOUNT, webhookIds: null }).page(query()).deliveries.length;

function open(dataDir = folder.dataDir): ViewCore {
  const view = openDeliveriesView(dataDir, (file) => damaged.push(file), {
    deliveryIdOf: webhookMessageId,
    size: 2 ** 40,
  });
  folder.onClose(() => view.close());
  return view;
}

function filled(): ViewCore {
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
  expect([damaged, count(view), view.id === first.id]).toEqual([[VIEW_FILE], 0, false]);
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
  for (const suffix of ['', '-wal']) copyFileSync(path() + suffix, `${other.dataDir}/${VIEW_FILE}${suffix}`);
  const view = open(other.dataDir);
  expect([count(view), view.id, damaged]).toEqual([COUNT, id, []]);
});

test('a view that was closed has nothing outside its file', () => {
  filled().close();
  expect(readdirSync(folder.dataDir)).toEqual([VIEW_FILE]);
});

test('nobody else on the machine can read it', () => {
  filled();
  for (const name of readdirSync(folder.dataDir)) expect(statSync(path(name)).mode & 0o077).toBe(0);
});
