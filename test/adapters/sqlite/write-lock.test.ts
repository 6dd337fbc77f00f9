import { driver, type SqliteFile } from '../../../src/adapters/sqlite/open-file.js';
import { StoreFile } from '../../../src/adapters/sqlite/store-file.js';
import { BrokerUnavailable } from '../../../src/ports/broker.js';
import { NO_STREAM, StoreUnavailable } from '../../../src/ports/event-store.js';
import { topicRecords } from '../../../src/ports/topic-records.js';
import { record } from '../../contract/broker/inbox.js';
import { collect } from '../../contract/contract.js';
import { event } from '../../contract/event-store/follower.js';
import { patience } from '../../runner/patience.js';
import { SqliteFolder } from '../../support/servers/sqlite-folder.js';

const HELD_MS = 300;
const BLOCKED_AT_MOST_MS = 100;

let folder: SqliteFolder;
beforeEach(() => {
  folder = new SqliteFolder();
});
afterEach(async () => {
  jest.restoreAllMocks();
  await folder.close();
});

/** The longest time between two turns of an interval of 5 ms while `work` goes on. */
async function longestBlock(work: () => Promise<unknown>): Promise<number> {
  let [last, longest] = [performance.now(), 0];
  const look = () => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
  };
  const interval = setInterval(look, 5);
  await work();
  look();
  clearInterval(interval);
  return longest;
}

/** Another process that has the lock, and how it lets go of it. */
async function lockedElsewhere(): Promise<() => Promise<void>> {
  const child = folder.child('holdWriteLock');
  await child.told(1);
  return () => child.kill();
}

test('writers wait for the lock of another process, and block the event loop only for moments', async () => {
  const { store, broker } = folder.open();
  const blocks: number[] = [];
  // The machine may stop for a moment too, but not each time.
  for (let round = 0; round < 3 && !blocks.some((block) => block < BLOCKED_AT_MOST_MS); round += 1) {
    const unlock = await lockedElsewhere();
    const began = performance.now();
    const writing = async () => {
      setTimeout(unlock, HELD_MS);
      const writes = [store.append(`stream-${round}`, [event()], NO_STREAM), broker.publish('topic', [record('a')])];
      await Promise.all(writes);
    };
    blocks.push(await longestBlock(writing));
    expect(performance.now() - began).toBeGreaterThanOrEqual(HELD_MS - 1);
    expect(await collect(store.read(`stream-${round}`))).toHaveLength(1);
  }
  expect(Math.min(...blocks)).toBeLessThan(BLOCKED_AT_MOST_MS * patience());
});

test('who waits longer than the limit is told, the writers after that as well, until it is free', async () => {
  const { store, broker } = folder.open();
  const unlock = await lockedElsewhere();
  runClockFast();
  const appended = store.append('stream', [event()], NO_STREAM).catch((error: unknown) => error);
  const published = broker.publish('topic', [record('a')]).catch((error: unknown) => error);
  expect(await appended).toBeInstanceOf(StoreUnavailable);
  expect(await published).toBeInstanceOf(BrokerUnavailable);
  expect(await broker.ensureTopics(['topic']).catch((error: unknown) => error)).toBeInstanceOf(BrokerUnavailable);
  jest.restoreAllMocks();
  await unlock();
  await store.append('stream', [event()], NO_STREAM);
  expect(await collect(store.read('stream'))).toHaveLength(1);
  expect(await collect(topicRecords(broker, 'topic'))).toEqual([]);
});

test('a store that was opened needs the lock no more: whoever takes it then does not fail the opening', async () => {
  const { file, storeId } = folder.open().file;
  const { prototype } = driver();
  const { pragma } = prototype;
  jest.spyOn(prototype, 'pragma').mockImplementation(function (this: SqliteFile, ...asked) {
    const answer = pragma.apply(this, asked);
    // From here on a wait for the lock is short.
    if (asked[0].startsWith('busy_timeout')) file.exec('BEGIN IMMEDIATE');
    return answer;
  });
  const opened = new StoreFile(folder.dataDir);
  folder.onClose(() => opened.close());
  expect(opened.storeId).toBe(storeId);
  expect(file.inTransaction).toBe(true);
  file.exec('ROLLBACK');
});

/** A thousand times as fast as time goes. */
function runClockFast(): void {
  const began = performance.now();
  const now = performance.now.bind(performance);
  jest.spyOn(performance, 'now').mockImplementation(() => began + 1_000 * (now() - began));
}
