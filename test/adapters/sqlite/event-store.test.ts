import {
  type EventStore,
  MAX_EVENT_BYTES,
  NO_OBJECT,
  NO_STREAM,
  OtherHistory,
} from '../../../src/ports/event-store.js';
import { collect } from '../../contract/contract.js';
import { event } from '../../contract/event-store/follower.js';
import { SqliteFolder } from '../../support/servers/sqlite-folder.js';

let folder: SqliteFolder;
let other: SqliteFolder;
beforeEach(() => {
  folder = new SqliteFolder();
  other = new SqliteFolder();
});
afterEach(async () => {
  jest.restoreAllMocks();
  await folder.close();
  await other.close();
});

function next({ store }: Pick<ReturnType<SqliteFolder['open']>, 'store'>, after: string) {
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
  const pages = countPages(file);
  for await (const _ of store.read('large', 7)) break;
  expect(pages.rows).toBeLessThanOrEqual(16);
  pages.count = 0;
  for await (const _ of store.read('large'));
  expect(pages.count).toBeGreaterThan(10);
  pages.count = 0;
  for await (const _ of store.read('small'));
  expect(pages.count).toBeLessThan(15);
});

test('a subscription reads few large events in a page', async () => {
  const { file, store } = folder.open();
  const large = Array.from({ length: 40 }, () => event({ text: 'x'.repeat(100_000) }));
  await store.append('stream', large, NO_STREAM);
  const pages = countPages(file);
  await next({ store }, await before(store));
  expect(pages.rows).toBeGreaterThan(1);
  expect(pages.rows).toBeLessThanOrEqual(8);
});

test('no part of an event that is longer than ours can be is read', async () => {
  const { file, store } = folder.open();
  const long = 'x'.repeat(2 * MAX_EVENT_BYTES);
  const insert = file.file.prepare(
    'INSERT INTO events (stream, revision, id, type, data, metadata) VALUES (?, ?, ?, ?, ?, ?)',
  );
  insert.run('stream', 0, long, long, `{"a":"${long}"}`, `{"a":"${long}"}`);
  insert.run('stream', 1, 'an id', 'A', '{"a":1}', '{}');
  const pages = countPages(file);
  const [first, second] = await collect(store.read('stream'));
  expect(first).toMatchObject({ id: '', type: '', data: NO_OBJECT, metadata: NO_OBJECT });
  expect(first?.position.length).toBeLessThan(100);
  expect(second).toMatchObject({ id: 'an id', type: 'A', data: { a: 1 } });
  expect(pages.characters).toBeLessThan(1_000);
  const { value } = await next({ store }, first?.position ?? '');
  expect(value.events).toMatchObject([{ id: 'an id' }]);
});

/** Counts what the store's statements read. */
function countPages({ file }: ReturnType<SqliteFolder['open']>['file']) {
  const counted = { count: 0, rows: 0, characters: 0 };
  const statement: { iterate: (...values: unknown[]) => Iterable<object> } = Object.getPrototypeOf(
    file.prepare('SELECT 1'),
  );
  const { iterate } = statement;
  jest.spyOn(statement, 'iterate').mockImplementation(function* (this: unknown, ...values: unknown[]) {
    counted.count += 1;
    for (const row of iterate.apply(this, values)) {
      counted.rows += 1;
      counted.characters += JSON.stringify(row).length;
      yield row;
    }
  });
  return counted;
}

/** The position before the first event. */
async function before(store: EventStore): Promise<string> {
  for await (const { position } of store.subscribe({ after: null, streamPrefix: 'no stream', ...running() })) {
    return position.replace(/[.].*/, '.0.0.');
  }
  throw new Error('the subscription gave nothing');
}

const running = () => ({ signal: new AbortController().signal });
