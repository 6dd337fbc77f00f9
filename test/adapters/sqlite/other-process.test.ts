import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { SqliteBroker } from '../../../src/adapters/sqlite/broker.js';
import { openProjectionStates } from '../../../src/adapters/sqlite/projection-states.js';
import { NO_STREAM } from '../../../src/ports/event-store.js';
import { topicRecords } from '../../../src/ports/topic-records.js';
import { Inbox, record, texts } from '../../contract/broker/inbox.js';
import { collect } from '../../contract/contract.js';
import { event } from '../../contract/event-store/follower.js';
import { eventually } from '../../support/clocks/eventually.js';
import { SqliteFolder } from '../../support/servers/sqlite-folder.js';

let folder: SqliteFolder;
beforeEach(() => {
  folder = new SqliteFolder();
});
afterEach(() => folder.close());

async function consume(broker: SqliteBroker): Promise<Inbox> {
  const inbox = new Inbox(() => undefined);
  await broker.consume({ topics: ['topic'], group: 'group', inFlight: 10, accept: () => ({ handle: inbox.handler }) });
  return inbox;
}

test('what another process publishes reaches a consumer here, each time', async () => {
  const { broker } = folder.open();
  const inbox = await consume(broker);
  const child = folder.child('publish');
  await child.told(1);
  for (let round = 1; round <= 3; round += 1) {
    child.send('publish');
    await eventually(() => inbox.calls.length === round);
  }
});

test('what another process publishes wakes only those who read its topic', async () => {
  const { broker, file } = folder.open();
  await broker.ensureTopics(['topic', 'quiet']);
  const touched: (ReadonlySet<string> | null)[] = [];
  const child = folder.child('publish');
  await child.told(1);
  // The first change after the start names everything.
  file.changes.listen((names) => touched.push(names));
  child.send('publish');
  await eventually(() => touched.some((names) => names?.has('topic')));
  touched.length = 0;
  child.send('publish');
  await eventually(() => touched.length > 0);
  expect(touched.map((names) => names && [...names])).toEqual([['topic']]);
});

test('kill -9 while it writes: whatever had resolved is there, and nothing is half there', async () => {
  const child = folder.child('write');
  await child.told(50);
  await child.kill();
  const { store, broker } = folder.open();
  const told = child.lines.map(Number);
  const events = await collect(store.read('stream'));
  const published = texts(await collect(topicRecords(broker, 'topic'))).map(Number);
  expect(events.map(({ data }) => data.number).slice(0, told.length)).toEqual(told);
  expect(published.slice(0, told.length)).toEqual(told);
  expect(await store.append('stream', [event()], events.length - 1)).toMatchObject({ revision: events.length });
});

test('no other user of the machine can read what is stored, whatever the umask', async () => {
  const umask = process.umask(0);
  folder.onClose(() => process.umask(umask));
  const { store, broker } = folder.open();
  await consume(broker);
  await Promise.all([store.append('stream', [event()], NO_STREAM), broker.publish('topic', [record('a')])]);
  const states = openProjectionStates(folder.dataDir, () => undefined);
  folder.onClose(() => states.close());
  states.open({ version: 'version', history: 'history' });
  const names = readdirSync(folder.dataDir);
  expect(names).toEqual(expect.arrayContaining(['store.sqlite', 'store.sqlite-wal', 'read-model.sqlite']));
  const modes = names.map((name) => [name, modeOf(join(folder.dataDir, name))]);
  expect(modes).toEqual(names.map((name) => [name, 0o600]));
  expect(modeOf(folder.dataDir)).toBe(0o700);
});

const modeOf = (path: string) => statSync(path).mode & 0o777;
