/** Events that somebody else wrote: bytes that are no JSON, and JSON that can't be parsed. */
import { type EventStore, NO_OBJECT } from '../../../src/ports/event-store.js';
import { collect } from '../../contract/contract.js';
import { type EventStoreServer, startEventStore } from '../../services/eventstoredb/event-store-server.js';
import { json } from '../../services/eventstoredb/stored-data.js';
import { openEventStoreDb } from '../../support/eventstoredb-subjects.js';

const STREAM = 'account-1';

let server: EventStoreServer;
let store: EventStore;

beforeEach(async () => {
  server = await startEventStore();
  store = openEventStoreDb(server.url);
});
afterEach(async () => {
  await store.close();
  await server.stop();
});

it('come without data and metadata, and those behind them come', async () => {
  const bytes = { ...json('Foreign', ''), contentType: 'application/octet-stream', data: Buffer.of(0xff, 0, 0xfe) };
  server.data.append(STREAM, [bytes, json('Foreign', '{"webhookId":', 'none'), json('Known', '{"a":1}', '{"b":2}')]);
  const ended = new AbortController();
  const given: unknown[] = [];
  for await (const { events, caughtUp } of store.subscribe({
    after: null,
    streamPrefix: STREAM,
    signal: ended.signal,
  })) {
    given.push(...events);
    if (caughtUp) ended.abort();
  }
  expect(given).toMatchObject([{}, {}, { data: { a: 1 }, metadata: { b: 2 } }]);
  const read = await collect(store.read(STREAM));
  expect(given).toEqual(read);
  expect(read.map(({ data, metadata }) => [data === NO_OBJECT, metadata === NO_OBJECT])).toEqual([
    [true, true],
    [true, true],
    [false, false],
  ]);
});
