/** How far a consumer goes beyond a record that is not done, and how fast beyond what nobody can read. */
import { setImmediate as turn } from 'node:timers/promises';
import { laneItem, MOST_BEHIND, RecordLane } from '../../../src/adapters/common/record-lane.js';
import { RecordPump } from '../../../src/adapters/common/record-pump.js';
import { eventually } from '../../support/eventually.js';
import { laneOf } from '../../support/scenes/pump-lane.js';

const record = (offset: number, topic = 't') =>
  laneItem({ topic, partition: 0, offset, timestamp: 0, key: null, value: null, headers: [] });

let pump: RecordPump | undefined;
afterEach(() => {
  pump?.stop();
  jest.restoreAllMocks();
});

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

test('a full partition hands out nothing, and others go on', async () => {
  const started: string[] = [];
  const handler = async ({ topic }: { topic: string }) => void started.push(topic);
  const full = Object.defineProperty(laneOf([record(0, 'full')]), 'isFull', { value: true });
  pump = new RecordPump({ inFlight: 10, handler, onDone: () => undefined });
  pump.setLanes([full, laneOf([record(0, 'other')])]);
  await eventually(() => started.length > 0);
  await turn();
  expect(started).toEqual(['other']);
});
