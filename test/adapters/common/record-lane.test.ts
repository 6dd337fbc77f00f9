import { type LaneItem, MOST_BEHIND, RecordLane } from '../../../src/adapters/common/record-lane.js';
import { growthOf } from '../../support/oracles/growth.js';
import { MAX_GROWTH } from '../../support/oracles/linear-time.js';
import { itemOf } from '../../support/scenes/pump-lane.js';

const record = (offset: number, topic = 't') =>
  itemOf({ topic, partition: 0, offset, timestamp: 0, key: null, value: null, headers: [] });

test('a million records from the first unfinished one on make a partition full, until that one is done', () => {
  const lane = new RecordLane(0);
  for (let offset = 0; offset < MOST_BEHIND; offset += 1) {
    if (lane.isFull) throw new Error(`full at ${offset}`);
    const item = record(offset);
    lane.add([item], offset + 1);
    lane.takeHead();
    if (offset > 0) lane.done(item);
  }
  expect(lane.isFull).toBe(true);
  lane.done(record(0));
  expect([lane.isFull, lane.unremembered, lane.behindSize]).toEqual([false, MOST_BEHIND, 0]);
});

test('twice the records of a batch take at most three times as long to hand out', async () => {
  const one = record(0);
  const handOut = (batch: readonly LaneItem[]) => {
    const lane = new RecordLane(0);
    lane.add(batch, batch.length);
    for (let left = batch.length; left > 0; left -= 1) lane.takeHead();
  };
  const batchOf = (length: number) => Array<LaneItem>(length).fill(one);
  const growth = await growthOf(batchOf, handOut, { maxLength: 65_536, most: MAX_GROWTH });
  expect(growth).toBeLessThanOrEqual(MAX_GROWTH);
});

describe('unreadable batches in a row', () => {
  const batch = { topic: 't', partition: 0, first: 0, last: 0, codec: 'none', reason: 'damaged', digest: 'd' };
  class StatedLane extends RecordLane {
    get waitsAt() {
      return this.headState.unreadable;
    }
  }
  let now: number;
  beforeEach(() => {
    now = 1_000;
    jest.spyOn(performance, 'now').mockImplementation(() => now);
  });
  afterEach(() => void jest.restoreAllMocks());

  test('20 are passed without a pause, and each further one a minute after the one before, until a record comes', () => {
    const lane = new StatedLane(0);
    const passedAt: number[] = [];
    for (let n = 0; n < 23; n += 1) {
      lane.add([itemOf({ ...batch, first: n, last: n })], n + 1);
      const reason = 'more than 20 batches in a row cannot be read (none: damaged), so each waits for a minute';
      expect(lane.waitsAt).toEqual(n < 20 ? null : { offset: n, reason });
      now = Math.max(now, lane.headDue);
      passedAt.push((now - 1_000) / 60_000);
      lane.takeHead();
    }
    expect(passedAt.slice(19)).toEqual([0, 1, 2, 3]);
    lane.add([record(23), itemOf({ ...batch, first: 24, last: 24 })], 25);
    lane.takeHead();
    expect([lane.headDue, lane.waitsAt]).toEqual([0, null]);
  });

  test('they are in a row by their offsets, also where records of a key have their turns between them', () => {
    const lane = new StatedLane(0);
    const keyed = Array.from({ length: 30 }, (_, offset) => ({ ...record(offset), turn: 'key' }) as LaneItem);
    const batches = Array.from({ length: 30 }, (_, n) => itemOf({ ...batch, first: 30 + n, last: 30 + n }));
    lane.add([...keyed, ...batches], 60);
    let passed = 0;
    for (; lane.headDue <= now; lane.takeHead()) passed += 'unreadable' in (lane.head() ?? {}) ? 1 : 0;
    expect(passed).toBe(20);
  });
});
