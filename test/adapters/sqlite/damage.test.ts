import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SqliteBroker } from '../../../src/adapters/sqlite/broker.js';
import { SqliteEventStore } from '../../../src/adapters/sqlite/event-store.js';
import { StoreDamaged, StoreFile } from '../../../src/adapters/sqlite/store-file.js';
import { BrokerUnavailable } from '../../../src/ports/broker.js';
import { NO_STREAM, StoreUnavailable } from '../../../src/ports/event-store.js';
import { topicRecords } from '../../../src/ports/topic-records.js';
import { collect } from '../../contract/contract.js';
import { events } from '../../contract/event-store/follower.js';
import { damageFile } from '../../support/scenes/sqlite-subjects.js';
import { Sweeping } from '../../support/scenes/sweeping.js';
import { SqliteFolder } from '../../support/servers/sqlite-folder.js';

const NAMES_IT = /^store\.sqlite is damaged \(SQLITE_\w+\): stop the service and restore a backup/;
/** The first page of each table is whole. */
const AFTER_ROOTS = 64 * 1024;
const RECORD = { key: null, value: Buffer.alloc(10_000, 'v'), headers: [] };

let folder: SqliteFolder;
const path = () => join(folder.dataDir, 'store.sqlite');

beforeEach(async () => {
  folder = new SqliteFolder();
  const file = new StoreFile(folder.dataDir);
  const broker = new SqliteBroker(file);
  await new SqliteEventStore(file).append('stream', events(1_000), NO_STREAM);
  await broker.publish(
    'topic',
    Array.from({ length: 50 }, () => RECORD),
  );
  await broker.close();
  file.close();
});
afterEach(() => folder.close());

test('a store that is no SQLite file any more can’t be opened, and is named', () => {
  damageFile(path(), 0);
  expect(() => new StoreFile(folder.dataDir)).toThrow(StoreDamaged);
  expect(() => new StoreFile(folder.dataDir)).toThrow(NAMES_IT);
});

test('one that is damaged in its middle is found by whoever looks at all of it', () => {
  damageFile(path());
  const { file } = folder.open();
  expect(() => file.mustBeSound()).toThrow(NAMES_IT);
});

test.each([
  [
    'an event is read',
    ({ store }: ReturnType<SqliteFolder['open']>) => collect(store.read('stream')),
    StoreUnavailable,
  ],
  [
    'the broker is browsed',
    ({ broker }: ReturnType<SqliteFolder['open']>) => collect(topicRecords(broker, 'topic')),
    BrokerUnavailable,
  ],
] as const)(
  'damage that is found when %s is an outage to who asked, and the end of the file',
  async (_, use, error) => {
    damageFile(path());
    const opened = folder.open();
    const damaged = opened.file.damaged.catch((reason: unknown) => reason);
    await expect(use(opened)).rejects.toThrow(error);
    await expect(use(opened)).rejects.toThrow(NAMES_IT);
    expect(await damaged).toBeInstanceOf(StoreDamaged);
  },
);

test('damage that a process met is looked for by the next start, however large the file, until there is none', async () => {
  const opened = async (use: (file: StoreFile) => unknown) => {
    const file = new StoreFile(folder.dataDir);
    await use(file);
    file.close();
  };
  const whole = readFileSync(path());
  damageFile(path());
  await opened(async (file) => {
    file.mustBeSound(0);
    await expect(collect(new SqliteEventStore(file).read('stream'))).rejects.toThrow(StoreUnavailable);
  });
  await opened((file) => expect(() => file.mustBeSound(0)).toThrow(NAMES_IT));
  writeFileSync(path(), whole);
  await opened((file) => file.mustBeSound(0));
  expect(existsSync(`${path()}.damaged`)).toBe(false);
});

type Opened = ReturnType<SqliteFolder['open']>;

test.each<[string, (opened: Opened) => unknown]>([
  [
    'consumer',
    ({ broker }) =>
      broker.consume({
        topics: ['topic'],
        group: 'group',
        inFlight: 10,
        accept: () => ({ handle: async () => undefined }),
      }),
  ],
  [
    'writer',
    ({ file }) => file.write('topic', () => file.file.exec('UPDATE records SET key = 1')).catch(() => undefined),
  ],
  ['sweep', ({ file }) => new Sweeping(file, { groupsOf: () => [] }).round(Date.now())],
])('a %s, which retries without end, does not hide damage', async (_, use) => {
  damageFile(path(), AFTER_ROOTS);
  const opened = folder.open();
  await Promise.all([expect(opened.file.damaged).rejects.toThrow(NAMES_IT), use(opened)]);
});
