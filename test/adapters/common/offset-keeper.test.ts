/** What is committed, and when: only the work that is committed is not done again after a kill. */
import { OffsetKeeper } from '../../../src/adapters/common/offset-keeper.js';
import { RecordLane } from '../../../src/adapters/common/record-lane.js';
import { itemOf } from '../../support/scenes/pump-lane.js';

const item = (offset: number) =>
  itemOf({ topic: 't', partition: 0, offset, timestamp: 0, key: null, value: null, headers: [] });

let lane: RecordLane;
let keeper: OffsetKeeper<RecordLane>;
/** What a process that begins now is told is done. */
let known: { offset: number; behind: ReadonlySet<number> };
let saves: number;
let isDown: boolean;

beforeEach(() => {
  jest.useFakeTimers();
  lane = new RecordLane(0);
  known = { offset: 0, behind: new Set() };
  [saves, isDown] = [0, false];
  keeper = new OffsetKeeper(
    () => [lane],
    async (progress) => {
      if (isDown) throw new Error('no broker');
      saves += 1;
      for (const { offset, behind } of progress.values()) known = { offset, behind: new Set(behind?.records) };
    },
  );
  for (let offset = 0; offset < 10; offset += 1) {
    lane.add([item(offset)], offset + 1);
    lane.takeHead();
  }
});
afterEach(() => {
  jest.useRealTimers();
});

function done(...offsets: number[]): void {
  for (const offset of offsets) {
    lane.done(item(offset));
    keeper.keepSoon();
  }
}

test('what is done, behind a record that is under way too, is committed within 250 ms, once', async () => {
  done(0, 2, 3);
  await jest.advanceTimersByTimeAsync(250);
  expect(known).toEqual({ offset: 1, behind: new Set([2, 3]) });
  await jest.advanceTimersByTimeAsync(60_000);
  expect(saves).toBe(1);
});

test('a commit that failed is repeated', async () => {
  isDown = true;
  done(0, 2);
  await jest.advanceTimersByTimeAsync(1_100);
  isDown = false;
  await jest.advanceTimersByTimeAsync(1_100);
  expect(known).toEqual({ offset: 1, behind: new Set([2]) });
});

test('an offset waits while more is done behind it than a commit names, and takes nothing back', async () => {
  done(2, 3);
  await jest.advanceTimersByTimeAsync(250);
  for (let offset = 10; offset < 41_000; offset += 1) {
    lane.add([item(offset)], offset + 1);
    lane.takeHead();
    lane.done(item(offset));
  }
  done(0);
  await jest.advanceTimersByTimeAsync(1_000);
  expect(known).toEqual({ offset: 0, behind: new Set([2, 3]) });
});
