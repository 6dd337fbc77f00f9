import { readFileSync } from 'node:fs';
import { NO_STREAM } from '../../../src/ports/event-store.js';
import { topicRecords } from '../../../src/ports/topic-records.js';
import { record } from '../../contract/broker/inbox.js';
import { event } from '../../contract/event-store/follower.js';
import { SqliteFolder } from '../../support/servers/sqlite-folder.js';

const WRITERS = 32;
const each = <T>(make: (index: number) => T) => Array.from({ length: WRITERS }, (_, index) => make(index));

let folder: SqliteFolder;
beforeEach(() => {
  folder = new SqliteFolder();
});
afterEach(() => folder.close());

const throws = () => {
  throw new Error('of its own');
};

/** In SQLite's write-ahead log: the last frame of each contains the database's new size. */
function transactions(): number {
  const [header, frameHeader] = [32, 24];
  const wal = readFileSync(`${folder.dataDir}/store.sqlite-wal`);
  const frame = frameHeader + wal.readUInt32BE(8);
  let count = 0;
  for (let at = header; at + frame <= wal.length; at += frame) if (wal.readUInt32BE(at + 4) > 0) count += 1;
  return count;
}

test('32 writers at once share a transaction', async () => {
  const { store, broker } = folder.open();
  const before = transactions();
  const appends = each((index) => store.append(`stream-${index}`, [event()], NO_STREAM));
  const publishes = each(() => broker.publish('topic', [record('a')]));
  await Promise.all([...appends, ...publishes]);
  expect(transactions() - before).toBeLessThanOrEqual(2);
});

test('a transaction is flushed to the disk before it resolves', () => {
  const { file } = folder.open();
  const read = (pragma: string) => file.file.pragma(pragma, { simple: true });
  expect([read('journal_mode'), read('synchronous')]).toEqual(['wal', 2]);
});

test('a writer that throws is undone alone, whatever it had written', async () => {
  const { file } = folder.open();
  const insert = file.file.prepare("INSERT INTO meta (name, value) VALUES (?, '')");
  const outcomes = await Promise.allSettled(
    each((index) =>
      file.write('meta', () => {
        insert.run(`writer-${index}`);
        if (index % 2) throw new Error('in the middle');
        return index;
      }),
    ),
  );
  const kept = each((index) => index).filter((index) => index % 2 === 0);
  expect(outcomes.map(({ status }) => status)).toEqual(each((index) => (index % 2 ? 'rejected' : 'fulfilled')));
  const names = file.file.prepare("SELECT name FROM meta WHERE name LIKE 'writer-%' ORDER BY rowid").pluck().all();
  expect(names).toEqual(kept.map((index) => `writer-${index}`));
});

test('a publish beside a writer that throws is stored once', async () => {
  const { file, broker } = folder.open();
  const throwing = file.write('meta', throws);
  const publishing = [broker.publish('topic', [record('a')]), broker.publish('topic', [record('b')])];
  await expect(throwing).rejects.toThrow('of its own');
  await Promise.all(publishing);
  await broker.publish('topic', [record('c')]);
  const stored: string[] = [];
  for await (const { value, offset } of topicRecords(broker, 'topic')) stored.push(`${offset} ${value}`);
  expect(stored).toEqual(['0 a', '1 b', '2 c']);
});

test('what is written when the file is closed is stored or rejected, never left open', async () => {
  const { file, store } = folder.open();
  const appending = Promise.allSettled(each((index) => store.append(`stream-${index}`, [event()], NO_STREAM)));
  file.close();
  const outcomes = await appending;
  const { file: again } = folder.open();
  const stored = again.file.prepare('SELECT count(*) FROM events').pluck().get();
  expect(stored).toBe(outcomes.filter(({ status }) => status === 'fulfilled').length);
});
