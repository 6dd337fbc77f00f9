import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { backupStore } from '../../../src/adapters/sqlite/backup.js';
import { driver, SchemaRefused } from '../../../src/adapters/sqlite/open-file.js';
import { openProjectionStates, readModelOrigin } from '../../../src/adapters/sqlite/projection-states.js';
import { STORE } from '../../../src/adapters/sqlite/store-file.js';
import { openDeliveriesView, VIEW_FILE } from '../../../src/adapters/sqlite/view/deliveries-view.js';
import { records } from '../../contract/broker/inbox.js';
import { event } from '../../contract/event-store/follower.js';
import { SqliteFolder } from '../../support/servers/sqlite-folder.js';

const other = (version: number) =>
  `store.sqlite has schema version ${version}, and this release uses version ${STORE.shape}: run the release that wrote it`;
const FOREIGN = 'store.sqlite is a SQLite file of another program';

let folder: SqliteFolder;
beforeEach(() => {
  folder = new SqliteFolder();
  mkdirSync(folder.dataDir);
});
afterEach(() => folder.close());

const path = (name = 'store.sqlite') => join(folder.dataDir, name);

function sql<T>(name: string, work: (file: ReturnType<typeof open>) => T): T {
  const file = open(name);
  try {
    return work(file);
  } finally {
    file.close();
  }
}

function open(name: string) {
  return new (driver())(path(name));
}

const headerOf = (name: string) =>
  sql(name, (file) => ['application_id', 'user_version'].map((pragma) => file.pragma(pragma, { simple: true })));

/** Stores an event and a record, and closes. */
async function filled(): Promise<void> {
  const { file, store, broker } = folder.open();
  await store.append('stream', [event({ number: 7 })], -1);
  await broker.publish('topic', records(['one']));
  await Promise.all([store.close(), broker.close()]);
  file.close();
}

test('each file says whose it is, and the version of its schema', async () => {
  await filled();
  openProjectionStates(folder.dataDir, () => undefined).close();
  openDeliveriesView(folder.dataDir, () => undefined, 2 ** 40).close();
  await backupStore({
    dataDir: folder.dataDir,
    target: path('copy'),
    force: false,
    progress: () => undefined,
    signal: new AbortController().signal,
  });
  const names = ['store.sqlite', 'copy', 'read-model.sqlite', VIEW_FILE];
  const [store, copy, ...disposable] = names.map(headerOf);
  expect([store, copy]).toEqual([
    [STORE.applicationId, STORE.shape],
    [STORE.applicationId, STORE.shape],
  ]);
  expect(disposable).toEqual([
    [expect.any(Number), expect.any(Number)],
    [expect.any(Number), expect.any(Number)],
  ]);
  expect(disposable.flat()).not.toContain(0);
});

test.each([
  ['of a later release', 'PRAGMA user_version = 99', other(99)],
  ['of a release with earlier tables', 'PRAGMA user_version = 1; DROP TABLE group_offsets', other(1)],
  ['of another program', 'PRAGMA application_id = 7', FOREIGN],
  ['of a program that left its header empty', 'PRAGMA application_id = 0; PRAGMA user_version = 0', FOREIGN],
])(
  'a store %s is refused by the service and by backup, with the same line, and left as it is',
  async (_, change, line) => {
    await filled();
    sql('store.sqlite', (file) => file.exec(change));
    const before = readFileSync(path());
    const refused = () => folder.open();
    expect(refused).toThrow(SchemaRefused);
    expect(refused).toThrow(line);
    const copied = backupStore({
      dataDir: folder.dataDir,
      target: path('copy'),
      force: false,
      progress: () => undefined,
      signal: new AbortController().signal,
    });
    await expect(copied).rejects.toThrow(line);
    expect(readFileSync(path()).equals(before)).toBe(true);
  },
);

test('a read model of a later release is not asked where it stands', async () => {
  openProjectionStates(folder.dataDir, () => undefined).close();
  sql('read-model.sqlite', (file) => file.exec("INSERT INTO origin VALUES ('version', 'history', NULL)"));
  expect(readModelOrigin(folder.dataDir)).toEqual({ history: 'history', position: null });
  sql('read-model.sqlite', (file) => file.exec('PRAGMA user_version = 99'));
  expect(readModelOrigin(folder.dataDir)).toBeNull();
});
