import { afterEach, expect, jest, test } from '@jest/globals';
import { UnreadablePace } from '../../../src/adapters/common/unreadable-pace.js';

const BATCH = { topic: 't', partition: 0, first: 0, last: 0, codec: 'none', reason: 'damaged', digest: 'd' };
const MINUTE_MS = 60_000;

let now = 1_000;
afterEach(() => void jest.restoreAllMocks());

test('twenty batches go at once, each one after them a minute after the one before, until a record comes', () => {
  jest.spyOn(performance, 'now').mockImplementation(() => now);
  const pace = new UnreadablePace();
  const passAt: number[] = [];
  for (let n = 0; n < 23; n += 1) {
    const item = pace.item(BATCH);
    expect(pace.blockedBy(item)).toBe(n < 20 ? null : BATCH);
    now = Math.max(now, item.due);
    passAt.push(now);
    pace.passed(item);
  }
  expect(passAt.slice(19).map((at) => at - 1_000)).toEqual([0, MINUTE_MS, 2 * MINUTE_MS, 3 * MINUTE_MS]);
  pace.passed({ record: {} });
  expect([pace.item(BATCH).due, pace.blockedBy(pace.item(BATCH))]).toEqual([0, null]);
});
