import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, expect, test } from '@jest/globals';
import { type Lane, RecordPump, waiting } from '../../../src/adapters/common/record-pump.js';
import type { ReceivedRecord } from '../../../src/ports/broker.js';
import { eventually } from '../../support/eventually.js';

let handOut: RecordPump | undefined;
afterEach(() => handOut?.stop());

/** A lane with records of 1,000 bytes, one without further word. */
function laneOf(topic: string, count = 1, bytes = 1_000): Lane {
  const place = { topic, partition: 0, offset: 0, timestamp: 0 };
  const record: ReceivedRecord = { ...place, key: null, value: Buffer.alloc(bytes), headers: [] };
  const line = Array.from({ length: count }, () => waiting(record, 0));
  return {
    unreadable: null,
    passUnreadable: () => undefined,
    head: () => line[0],
    get headDue() {
      return line[0]?.due ?? Number.POSITIVE_INFINITY;
    },
    takeHead: () => void line.shift(),
    done: () => undefined,
    isPartDone: () => false,
    partDone: () => undefined,
  };
}

test('what pauses holds its bytes no longer where its lane is gone', async () => {
  const calls: string[] = [];
  const handler = async ({ topic }: ReceivedRecord) => {
    calls.push(topic);
    if (topic === 'lost') throw new Error('rejected');
  };
  handOut = new RecordPump({ inFlight: 10, inFlightBytes: 1_000, handler, onDone: () => undefined });
  handOut.setLanes([laneOf('lost')]);
  await eventually(() => calls.length === 1);
  handOut.setLanes([laneOf('kept')]);
  await eventually(() => calls.includes('kept'));
  expect(calls).toEqual(['lost', 'kept']);
});

test('in one turn of the event loop a mebibyte is handed out, and then it is the turn of others', async () => {
  let calls = 0;
  const handler = () => {
    calls += 1;
    return new Promise<void>(() => undefined);
  };
  handOut = new RecordPump({ inFlight: 100, handler, onDone: () => undefined });
  handOut.setLanes([laneOf('long', 10, 256 * 1024)]);
  const counts: number[] = [];
  for (let n = 0; n < 3; n += 1) {
    await turn();
    counts.push(calls);
  }
  expect(counts).toEqual([4, 8, 10]);
});
