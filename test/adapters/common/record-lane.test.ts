import { laneItem, MOST_BEHIND, RecordLane } from '../../../src/adapters/common/record-lane.js';

const record = (offset: number, topic = 't') =>
  laneItem({ topic, partition: 0, offset, timestamp: 0, key: null, value: null, headers: [] });

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
