import type { StoreFile } from '../../../src/adapters/sqlite/store-file.js';
import { BrokerUnavailable } from '../../../src/ports/broker.js';
import { NO_STREAM, StoreUnavailable } from '../../../src/ports/event-store.js';
import { topicRecords } from '../../../src/ports/topic-records.js';
import { record } from '../../contract/broker/inbox.js';
import { collect } from '../../contract/contract.js';
import { event } from '../../contract/event-store/follower.js';
import { SqliteFolder } from '../../support/sqlite-folder.js';

const PAGES_LEFT = 8;
const UNLIMITED = 1_000_000;
const TEN = Array.from({ length: 10 }, (_, index) => index);
const large = (number = 0) => event({ number, text: 'x'.repeat(20_000) });
const reason = (error: unknown) => error;

let folder: SqliteFolder;
beforeEach(() => {
  folder = new SqliteFolder();
});
afterEach(() => folder.close());

function limit(file: StoreFile, more: number): void {
  const pages = file.file.pragma('page_count', { simple: true }) as number;
  file.file.pragma(`max_page_count = ${pages + more}`);
}

test('an append that does not fit rejects with StoreUnavailable, and nothing of it is stored', async () => {
  const { file, store } = folder.open();
  await store.append('stream', [event()], NO_STREAM);
  limit(file, PAGES_LEFT);
  const events = TEN.map(large);
  const error = await store.append('stream', events, 0).catch(reason);
  expect(error).toBeInstanceOf(StoreUnavailable);
  expect(String(error)).not.toContain(folder.dataDir);
  expect(await collect(store.read('stream'))).toHaveLength(1);
  limit(file, UNLIMITED);
  expect(await store.append('stream', events, 0)).toMatchObject({ revision: 10 });
  expect(await collect(store.read('stream'))).toHaveLength(11);
});

test('a publish that does not fit rejects with BrokerUnavailable, and nothing of it is stored', async () => {
  const { file, broker } = folder.open();
  await broker.publish('topic', [record('a')]);
  limit(file, PAGES_LEFT);
  const records = TEN.map(() => record('x'.repeat(20_000)));
  expect(await broker.publish('topic', records).catch(reason)).toBeInstanceOf(BrokerUnavailable);
  expect(await collect(topicRecords(broker, 'topic'))).toHaveLength(1);
  limit(file, UNLIMITED);
  await broker.publish('topic', records);
  expect(await collect(topicRecords(broker, 'topic'))).toHaveLength(11);
});
