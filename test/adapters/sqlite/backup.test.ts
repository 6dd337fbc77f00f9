import {
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type BackupOptions, backupStore } from '../../../src/adapters/sqlite/backup.js';
import { SqliteBroker } from '../../../src/adapters/sqlite/broker.js';
import { SqliteEventStore } from '../../../src/adapters/sqlite/event-store.js';
import { StoreFile } from '../../../src/adapters/sqlite/store-file.js';
import { topicRecords } from '../../../src/ports/topic-records.js';
import { named, record, records, texts } from '../../contract/broker/inbox.js';
import { collect } from '../../contract/contract.js';
import { event, numbers, upTo } from '../../contract/event-store/follower.js';
import { eventually } from '../../support/clocks/eventually.js';
import { SqliteFolder } from '../../support/servers/sqlite-folder.js';

const LARGE = 'x'.repeat(4_000);

let folder: SqliteFolder;
let opened: ReturnType<SqliteFolder['open']>;
let target: string;
beforeEach(async () => {
  folder = new SqliteFolder();
  opened = folder.open();
  mkdirSync(join(folder.dataDir, 'backups'));
  target = join(folder.dataDir, 'backups', 'store.sqlite');
  // More than is copied in one turn.
  await opened.broker.publish('topic', records(named(3_000).map((name) => name + LARGE)));
});
afterEach(() => folder.close());

const backup = (options: Partial<BackupOptions> = {}) =>
  backupStore({
    ...{ dataDir: folder.dataDir, target, force: false, progress: () => undefined },
    ...{ signal: new AbortController().signal, ...options },
  });
const files = () => readdirSync(join(folder.dataDir, 'backups'));
const failure = (error: unknown) => error;

/** Appends and publishes in one go, until it is told to stop. */
async function write(until: { isOver: boolean }): Promise<void> {
  for (let number = 0; !until.isOver; number += 1) {
    await Promise.all([
      opened.store.append('stream', [event({ number })], number - 1),
      opened.broker.publish('numbers', [record(String(number))]),
    ]);
  }
}

/** What the store in a folder has. */
async function stored(dataDir: string) {
  const file = new StoreFile(dataDir);
  const [store, broker] = [new SqliteEventStore(file), new SqliteBroker(file)];
  folder.onClose(async () => {
    await Promise.all([store.close(), broker.close()]);
    file.close();
  });
  const events = numbers(await collect(store.read('stream')));
  const published = texts(await collect(topicRecords(broker, 'numbers'))).map(Number);
  const others = (await collect(topicRecords(broker, 'topic'))).length;
  return { storeId: file.storeId, events, published, others };
}

test('is of one moment and whole, while the store is written to', async () => {
  const until = { isOver: false };
  const writing = write(until);
  await eventually(async () => (await collect(opened.store.read('stream'))).length > 0);
  const shares: number[] = [];
  await backup({ progress: (share) => void shares.push(share) });
  until.isOver = true;
  await writing;
  const { storeId, events, published, others } = await stored(join(folder.dataDir, 'backups'));
  const now = await collect(opened.store.read('stream'));
  expect([storeId, others]).toEqual([opened.file.storeId, 3_000]);
  expect(events.length).toBeGreaterThan(0);
  expect(events.length).toBeLessThan(now.length);
  // Both were written in one transaction.
  expect([events, published]).toEqual([upTo(events.length), upTo(events.length)]);
  expect(shares.length).toBeGreaterThan(2);
});

test('is one file, which nobody else can read', async () => {
  const bytes = await backup();
  expect(files()).toEqual(['store.sqlite']);
  expect(statSync(target).mode & 0o777).toBe(0o600);
  expect(statSync(target).size).toBe(bytes);
});

test('replaces no file, also none that comes meanwhile, unless it is told to', async () => {
  writeFileSync(target, 'precious');
  expect(String(await backup().catch(failure))).toMatch(/already exists/);
  expect(readFileSync(target, 'utf8')).toBe('precious');
  await backup({ force: true });
  expect(statSync(target).size).toBeGreaterThan(1_000_000);
  target = join(folder.dataDir, 'backups', 'other.sqlite');
  const late = backup({ progress: () => writeFileSync(target, 'precious') });
  expect(String(await late.catch(failure))).toMatch(/already exists/);
  expect(readFileSync(target, 'utf8')).toBe('precious');
  expect(files()).toEqual(['other.sqlite', 'store.sqlite']);
});

test.each(['../master.key', 'link', 'folder', 'linked store'])('even by force, does not replace %s', async (name) => {
  const [key, wanted] = [join(folder.dataDir, 'master.key'), join(folder.dataDir, 'backups', name)];
  writeFileSync(key, 'precious');
  symlinkSync(key, join(folder.dataDir, 'backups', 'link'));
  mkdirSync(join(folder.dataDir, 'backups', 'folder'));
  linkSync(join(folder.dataDir, 'store.sqlite'), join(folder.dataDir, 'backups', 'linked store'));
  const before = lstatSync(wanted).ino;
  target = wanted;
  expect(String(await backup({ force: true }).catch(failure))).toMatch(/only a plain file outside of DATA_DIR/);
  expect([lstatSync(wanted).ino, readFileSync(key, 'utf8')]).toEqual([before, 'precious']);
});

test('interrupted midway, leaves no file', async () => {
  const interrupting = new AbortController();
  const late = backup({ signal: interrupting.signal, progress: () => interrupting.abort() });
  expect(await late.catch(failure)).toMatchObject({
    name: 'BackupFailed',
    message: expect.stringContaining('interrupted'),
  });
  expect(files()).toEqual([]);
});

test('a damaged store is not backed up in silence', async () => {
  const { file } = opened;
  file.file.pragma('wal_checkpoint(TRUNCATE)');
  file.file.unsafeMode();
  file.file.pragma('writable_schema = ON');
  file.file.exec("DELETE FROM sqlite_master WHERE name = 'sqlite_autoindex_records_1'");
  expect(String(await backup().catch(failure))).toMatch(/damaged|SQLITE_CORRUPT/);
  expect(files()).toEqual([]);
});
