/** How far a consumer goes beyond a record that is not done, such as one whose dead letter is refused. */
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, expect, test } from '@jest/globals';
import { DonePrefix, MOST_BEHIND } from '../../../src/adapters/common/done-prefix.js';
import { dueRecord, RecordPump } from '../../../src/adapters/common/record-pump.js';
import { eventually } from '../../support/eventually.js';
import { laneOf } from '../../support/pump-lane.js';

let pump: RecordPump | undefined;
afterEach(() => pump?.stop());

test('a million records from the first unfinished one on make a partition full, until that one is done', () => {
  const prefix = new DonePrefix(0);
  prefix.handOut(0);
  for (let offset = 1; offset < MOST_BEHIND; offset += 1) {
    if (prefix.isFull) throw new Error(`full at ${offset}`);
    prefix.handOut(offset);
    prefix.done(offset);
  }
  expect(prefix.isFull).toBe(true);
  prefix.done(0);
  expect([prefix.isFull, prefix.next, prefix.behindSize]).toEqual([false, MOST_BEHIND, 0]);
});

test('a full partition hands out nothing, and others go on', async () => {
  const started: string[] = [];
  const handler = async ({ topic }: { topic: string }) => void started.push(topic);
  const record = (topic: string) => ({ topic, partition: 0, offset: 0, timestamp: 0, key: null, value: null });
  const [full, other] = ['full', 'other'].map((topic) => laneOf([dueRecord({ ...record(topic), headers: [] }, 0)]));
  if (!full || !other) throw new Error('there are two');
  pump = new RecordPump({ inFlight: 10, handler, onDone: () => undefined });
  pump.setLanes([{ ...full, isFull: true }, other]);
  await eventually(() => started.length > 0);
  await turn();
  expect(started).toEqual(['other']);
});
