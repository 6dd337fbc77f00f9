import { NO_STREAM, OtherHistory } from '../../../src/ports/event-store.js';
import { event } from '../../contract/event-store/follower.js';
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
  const reads = jest.spyOn(Object.getPrototypeOf(file.file.prepare('SELECT 1')), 'all');
  for await (const _ of store.read('large', 7)) break;
  expect(reads.mock.results.flatMap(({ value }) => value).length).toBeLessThanOrEqual(16);
  reads.mockClear();
  for await (const _ of store.read('large'));
  expect(reads.mock.calls.length).toBeGreaterThan(10);
  reads.mockClear();
  for await (const _ of store.read('small'));
  expect(reads.mock.calls.length).toBeLessThan(15);
  reads.mockRestore();
});
