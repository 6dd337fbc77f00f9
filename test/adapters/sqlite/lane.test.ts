import { lastOf } from '../../../src/adapters/common/record-lane.js';
import { TopicLane } from '../../../src/adapters/sqlite/consumer.js';

import type { RecordLog, RecordPage } from '../../../src/adapters/sqlite/record-log.js';

const END = 1_000;

test('records that were done before are not read again', () => {
  const done = Array.from({ length: END - 100 }, (_, n) => 100 + n);
  const read: number[] = [];
  const page = (topic: string, from: number, limit: number): RecordPage => {
    const offsets = Array.from({ length: Math.min(limit, END - from) }, (_, n) => from + n);
    read.push(...offsets);
    const common = { topic, partition: 0, timestamp: 0, key: null, value: null, headers: [] };
    return { page: offsets.map((offset) => ({ ...common, offset })), next: from + offsets.length, atEnd: from >= END };
  };
  const progress = () => ({ offset: 0, behind: { records: new Set(done), parts: new Map() } });
  const lane = new TopicLane('t', { page, progress } as unknown as RecordLog, 'group', () => 0);
  const handedOut: number[] = [];
  for (let head = lane.head(); head; head = lane.head()) {
    handedOut.push(lastOf(head));
    lane.takeHead();
    lane.done(head);
  }
  expect(handedOut).toEqual(Array.from({ length: 100 }, (_, n) => n));
  expect([read.length, lane.unremembered]).toEqual([100, END]);
});
