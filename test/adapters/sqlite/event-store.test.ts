import { SqliteEventStore } from '../../../src/adapters/sqlite/event-store.js';
import { NO_STREAM, OtherHistory } from '../../../src/ports/event-store.js';
import { event } from '../../contract/event-store/follower.js';
import { CountedReads } from '../../support/servers/counted-reads.js';
import { SqliteFolder } from '../../support/servers/sqlite-folder.js';

let folder: SqliteFolder;
let other: SqliteFolder;
beforeEach(() => {
  folder = new SqliteFolder();
  other = new SqliteFolder();
});
afterEach(async () => {
  await folder.close();
  await other.close();
});

function next({ store }: ReturnType<SqliteFolder['open']>, after: string) {
  const { signal } = new AbortController();
  return store.subscribe({ after, streamPrefix: '', signal })[Symbol.asyncIterator]().next();
}

test('a position of another store file is unknown', async () => {
  const [here, there] = [folder.open(), other.open()];
  await here.store.append('stream', [event()], NO_STREAM);
  const { position } = await there.store.append('stream', [event()], NO_STREAM);
  await expect(next(here, position)).rejects.toThrow(OtherHistory);
});

test('a position behind the end of the file, as after a restored backup, is unknown', async () => {
  const here = folder.open();
  const { position } = await here.store.append('stream', [event(), event()], NO_STREAM);
  here.file.file.exec('DELETE FROM events WHERE revision = 1');
  await expect(next(here, position)).rejects.toThrow(OtherHistory);
});

test('a read of a few large events reads few of them, and a long stream is read in long pages', async () => {
  const { file, store } = folder.open();
  const large = Array.from({ length: 400 }, () => event({ data: { text: 'x'.repeat(20_000) } }));
  await store.append('large', large, NO_STREAM);
  await store.append(
    'small',
    Array.from({ length: 5_000 }, () => event()),
    NO_STREAM,
  );
  const reads = new CountedReads(file.file, (sql) => sql.includes('revision >= ?'));
  const counted = new SqliteEventStore({ ...file, file: reads.file } as typeof file);
  for await (const _ of counted.read('large', 7)) break;
  expect(reads.rows).toBeLessThanOrEqual(16);
  for await (const _ of counted.read('large'));
  expect(reads.calls).toBeGreaterThan(10);
  reads.calls = 0;
  for await (const _ of counted.read('small'));
  expect(reads.calls).toBeLessThan(15);
});
