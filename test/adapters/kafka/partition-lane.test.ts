import type { LaneItem } from '../../../src/adapters/common/record-lane.js';
import { PartitionLane } from '../../../src/adapters/kafka/partition-lane.js';
import type { ReceivedRecord, RecordHeader } from '../../../src/ports/broker.js';
import { itemOf } from '../../support/scenes/pump-lane.js';

let calls: string[];
let lane: PartitionLane;

beforeEach(() => {
  calls = [];
  const flow = { pause: () => calls.push('pause'), resume: () => calls.push('resume') };
  lane = new PartitionLane({ topic: 't', partition: 0 }, { offset: 100, committed: 100 }, flow);
});

function waiting(offset: number, bytes = 1, headers: readonly RecordHeader[] = []) {
  const value = Buffer.alloc(bytes);
  const record: ReceivedRecord = { topic: 't', partition: 0, offset, timestamp: 0, key: null, value, headers };
  return itemOf(record);
}

const range = (from: number, to: number, bytes?: number) =>
  Array.from({ length: to - from + 1 }, (_, n) => waiting(from + n, bytes));

function take(count: number) {
  return Array.from({ length: count }, () => {
    const head = lane.head();
    lane.takeHead();
    if (!head || !('record' in head)) throw new Error('the lane has no record');
    return head;
  });
}

describe('after the member got another id', () => {
  it('goes on where it committed, also behind an offset that holds no record, if no other member got further', () => {
    lane.receive(range(100, 100), 101);
    for (const record of take(1)) lane.done(record);
    lane.remembered(102);
    lane.receive(range(102, 102), 102);
    take(1);
    expect(lane.knows({ offset: 102, committed: 102 })).toBe(true);
    expect(lane.knows({ offset: 103, committed: 103 })).toBe(false);
    const byAnother = { records: new Set([103]), parts: new Map() };
    expect(lane.knows({ offset: 102, committed: 102, behind: byAnother })).toBe(false);
  });
});

describe('flow', () => {
  it('is paused above 500 records and goes on below 101', () => {
    lane.receive(range(100, 598), 598);
    expect(calls).toEqual([]);
    lane.receive([waiting(599)], 599);
    expect(calls).toEqual(['pause']);
    take(399);
    expect(calls).toEqual(['pause']);
    take(1);
    expect(calls).toEqual(['pause', 'resume']);
  });

  it('goes on, where keys take turns, once the oldest that waits is among the last 1,000', () => {
    const flow = { pause: () => calls.push('pause'), resume: () => calls.push('resume') };
    lane = new PartitionLane({ topic: 't', partition: 0 }, { offset: 0, committed: 0 }, flow, true);
    const turn = (offset: number) => (offset < 1_200 ? 'many' : `few-${offset}`);
    const items = range(0, 1_999).map((item, offset) => ({ ...item, turn: turn(offset) }) as LaneItem);
    lane.receive(items, 1_999);
    const taken: string[] = [];
    while (!calls.includes('resume')) {
      taken.push(lane.head()?.turn ?? '');
      take(1);
    }
    expect(taken.filter((turn) => turn === 'many')).toHaveLength(1_000);
    expect(taken.length).toBeGreaterThan(1_080);
  });

  it('is paused above 512 KiB, however few the records', () => {
    lane.receive(range(100, 106, 64 * 1024), 106);
    expect(calls).toEqual([]);
    lane.receive([waiting(107, 64 * 1024)], 107);
    expect(calls).toEqual(['pause']);
    take(3);
    expect(calls).toEqual(['pause']);
    take(1);
    expect(calls).toEqual(['pause', 'resume']);
  });
});
