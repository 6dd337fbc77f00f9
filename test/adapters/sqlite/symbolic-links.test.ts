/** Files of DATA_DIR that are symbolic links: they work, and what they point to outside is never deleted or changed. */
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { driver } from '../../../src/adapters/sqlite/open-file.js';
import { openProjectionStates } from '../../../src/adapters/sqlite/projection-states.js';
import { DataDirUnusable, StoreFile } from '../../../src/adapters/sqlite/store-file.js';
import { NO_STREAM } from '../../../src/ports/event-store.js';
import { collect } from '../../contract/contract.js';
import { events } from '../../contract/event-store/follower.js';
import { SqliteFolder } from '../../support/sqlite-folder.js';

const ORIGIN = { version: 'version', history: 'history' };

let folder: SqliteFolder;
let outside: string;
beforeEach(() => {
  folder = new SqliteFolder();
  outside = `${folder.dataDir}-outside`;
  for (const path of [folder.dataDir, outside]) mkdirSync(path);
});
afterEach(() => folder.close());

const linkTo = (target: string, name: string) => symlinkSync(target, join(folder.dataDir, name));
const modes = () => readdirSync(outside).map((name) => statSync(join(outside, name)).mode & 0o777);

function openStates(told: string[] = []) {
  const states = openProjectionStates(folder.dataDir, (file) => told.push(file));
  folder.onClose(() => states.close());
  return states;
}

test.each(['store.sqlite', 'read-model.sqlite'])('%s that is a link to a new file is for its owner alone', (name) => {
  linkTo(join(outside, name), name);
  if (name === 'store.sqlite') folder.open();
  else openStates();
  expect(modes()).toEqual(modes().map(() => 0o600));
  expect(readdirSync(outside)).toContain(name);
});

test('a store behind a link is the same store, with its -wal file beside it', async () => {
  linkTo(join(outside, 'store.sqlite'), 'store.sqlite');
  await folder.open().store.append('stream', events(3), NO_STREAM);
  expect(existsSync(join(outside, 'store.sqlite-wal'))).toBe(true);
  const there = new StoreFile(outside);
  folder.onClose(() => there.close());
  expect(there.storeId).toBe(folder.open().file.storeId);
  expect(await collect(folder.open().store.read('stream'))).toHaveLength(3);
});

describe('a link to a missing folder is refused with one line', () => {
  const opened: [string, (dataDir: string) => unknown][] = [
    ['the store', (dataDir) => new StoreFile(dataDir)],
    ['the read model', (dataDir) => openProjectionStates(dataDir, () => undefined)],
  ];
  test.each(opened)('%s', (_, open) => {
    for (const name of ['store.sqlite', 'read-model.sqlite']) linkTo('/nowhere/at/all', name);
    expect(() => open(folder.dataDir)).toThrow(DataDirUnusable);
    expect(() => open(folder.dataDir)).toThrow("DATA_DIR can't be used (ENOENT)");
  });

  test.each(opened)('DATA_DIR itself: %s', (_, open) => {
    symlinkSync('/nowhere/at/all', `${outside}/link`);
    expect(() => open(`${outside}/link`)).toThrow("DATA_DIR can't be used (ENOENT)");
  });
});

describe('a read model that is removed', () => {
  const theirs = () => join(outside, 'theirs');

  function sqliteOfOthers(): void {
    const file = new (driver())(theirs());
    file.exec('CREATE TABLE theirs (a); PRAGMA application_id = 7');
    file.close();
  }

  test.each([
    ['a text', () => writeFileSync(theirs(), 'a text of some length. '.repeat(100))],
    ["another program's SQLite file", sqliteOfOthers],
  ])('leaves what its link points to as it was: %s', (_, write) => {
    write();
    const before = readFileSync(theirs());
    linkTo(theirs(), 'read-model.sqlite');
    const told: string[] = [];
    const states = openStates(told);
    expect(states.open(ORIGIN)).toBeNull();
    expect(told).toEqual(['read-model.sqlite']);
    expect(lstatSync(join(folder.dataDir, 'read-model.sqlite')).isSymbolicLink()).toBe(false);
    expect(readFileSync(theirs()).equals(before)).toBe(true);
    expect(readdirSync(outside)).toEqual(['theirs']);
  });
});
