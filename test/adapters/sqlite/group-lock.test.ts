/** Who has a group, of several that want it: here they are in one process, each with a store file of its own. */
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { GroupLock, type LockTimes } from '../../../src/adapters/sqlite/group-lock.js';
import { patience } from '../../runner/patience.js';
import { eventually } from '../../support/eventually.js';
import { SqliteFolder } from '../../support/sqlite-folder.js';

/** A busy machine lets this process stand still, too. */
const SLOWER = patience();
const TIMES: LockTimes = { lookMs: 5, beatMs: 20, holdsMs: 400 * SLOWER, silentMs: 800 * SLOWER };
/** As of a process that stands still as soon as it has the group. */
const STOPPED: LockTimes = { ...TIMES, beatMs: 3_600_000 };
/** As of one that stands still for a while. */
const SLOW: LockTimes = { ...TIMES, beatMs: 2_000 * SLOWER };

let folder: SqliteFolder;
beforeEach(() => {
  folder = new SqliteFolder();
});
afterEach(() => folder.close());

interface Wanting {
  readonly lock: GroupLock;
  readonly told: string[];
}

interface Failures {
  /** So many times. */
  readonly claim?: number;
  readonly start?: number;
}

async function wanting(times = TIMES, { claim = 0, start = 0 }: Failures = {}): Promise<Wanting> {
  const told: string[] = [];
  const { file } = folder.open();
  const write = file.write.bind(file);
  file.write = (...args) => {
    claim -= 1;
    return claim >= 0 ? Promise.reject(new Error('the disk is full')) : write(...args);
  };
  const lock = new GroupLock(file, {
    group: 'group',
    taken: () => {
      start -= 1;
      if (start >= 0) throw new Error('no lanes');
      told.push('taken');
    },
    lost: () => void told.push('lost'),
    regained: () => void told.push('regained'),
    times,
  });
  folder.onClose(() => lock.release());
  await lock.acquire();
  return { lock, told };
}

test('the first has it at once, and the next when that lets go', async () => {
  const first = await wanting();
  const second = await wanting();
  expect([first.lock.holds, second.lock.holds]).toEqual([true, false]);
  first.lock.release();
  await eventually(() => second.lock.holds);
  expect([first.told, second.told]).toEqual([['taken'], ['taken']]);
});

test.each([
  ['its claim can not be written', { claim: 3 }],
  ['its start fails', { start: 3 }],
])('who finds it free while %s tries again, and is not in the way of the next', async (_, failures) => {
  const first = await wanting(TIMES, failures);
  expect([first.lock.holds, first.lock.works]).toEqual([false, false]);
  await eventually(() => first.lock.holds);
  expect([first.told, first.lock.works]).toEqual([['taken'], true]);
  const second = await wanting(TIMES, failures);
  first.lock.release();
  await eventually(() => second.lock.holds);
});

test('who beats keeps it', async () => {
  const first = await wanting();
  const second = await wanting();
  const begun = performance.now();
  await eventually(() => performance.now() - begun > 2 * TIMES.silentMs);
  expect([first.told, second.told]).toEqual([['taken'], []]);
});

test('who is silent loses it, holds nothing any more before that, and stands by when it goes on', async () => {
  const first = await wanting(SLOW);
  const [second, third] = [await wanting(), await wanting()];
  await eventually(() => {
    expect([first, second, third].filter(({ lock }) => lock.holds).length).toBeLessThanOrEqual(1);
    return second.lock.holds || third.lock.holds;
  });
  expect([first.told, first.lock.holds, first.lock.isCurrent()]).toEqual([['taken'], false, false]);
  expect(await first.lock.settled()).toBe(false);
  expect(first.told).toEqual(['taken', 'lost']);
  expect([...second.told, ...third.told]).toEqual(['taken']);
});

test('who took it from a silent one has the lock once that has let go: its end is known at once then', async () => {
  const first = await wanting(STOPPED);
  const second = await wanting();
  await eventually(() => second.lock.holds);
  first.lock.release();
  const third = await wanting(STOPPED);
  const begun = performance.now();
  await eventually(() => performance.now() - begun > 20 * TIMES.beatMs);
  expect([second.lock.holds, third.lock.holds]).toEqual([true, false]);
  second.lock.release();
  await eventually(() => third.told.length === 1);
  expect(performance.now() - begun).toBeLessThan(100 * TIMES.silentMs);
});

test('who was silent and finds that nobody took it goes on', async () => {
  const { lock, told } = await wanting({ ...TIMES, beatMs: 2 * TIMES.holdsMs });
  await eventually(() => !lock.holds);
  expect(await lock.settled()).toBe(true);
  expect(told).toEqual(['taken', 'regained']);
});

test('nobody waits any more once it is stopped', async () => {
  const { lock } = await wanting(STOPPED);
  await eventually(() => !lock.holds);
  const settled = lock.settled();
  lock.stop();
  expect([await settled, await lock.settled()]).toEqual([false, false]);
});
