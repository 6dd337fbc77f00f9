import type { ReceivedRecord } from '../../../src/ports/broker.js';
import { records } from '../../contract/broker/inbox.js';
import { eventually } from '../../support/eventually.js';
import { SqliteFolder } from '../../support/sqlite-folder.js';

const NOTHING = { connected: true, inHand: 0, inHandBytes: 0, partitions: [] };

let folder: SqliteFolder;
beforeEach(() => {
  folder = new SqliteFolder();
});
afterEach(() => folder.close());

test('how far it is behind, what it holds and for how long the next is due', async () => {
  const { broker } = folder.open();
  await broker.publish('t', records(['aa', 'bb', 'cc']));
  let end: () => void = () => undefined;
  const until = new Promise<void>((resolve) => {
    end = resolve;
  });
  const handler = ({ value }: ReceivedRecord) => (String(value) === 'aa' ? Promise.resolve() : until);
  const begun = Date.now();
  const options = { topics: ['t', 'empty'], group: 'g', inFlight: 1, handler };
  const consumer = await broker.consume(options);
  const state = await eventually(() => consumer.state().inHand === 1 && consumer.state().partitions[0]);
  expect(state).toMatchObject({ topic: 't', partition: 0, behind: 2 });
  expect(state.head?.overdueMs).toBeGreaterThan(0);
  expect(state.head?.publishedAt).toBeLessThanOrEqual(begun);
  // Key and value.
  expect(consumer.state()).toMatchObject({ inHand: 1, inHandBytes: 3 + 2 });
  expect(consumer.state().partitions[1]).toEqual({
    topic: 'empty',
    partition: 0,
    behind: 0,
    head: null,
    unreadable: null,
  });
  const closing = consumer.close();
  end();
  await closing;
  expect(consumer.state().partitions[0]).toMatchObject({ behind: 1 });
});

test('of a file that is closed it tells nothing, and does not throw', async () => {
  const { broker, file } = folder.open();
  const consumer = await broker.consume({ topics: ['t'], group: 'g', inFlight: 1, handler: async () => undefined });
  await broker.close();
  file.close();
  expect(consumer.state()).toEqual(NOTHING);
});
