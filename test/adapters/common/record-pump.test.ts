import { setImmediate as turn } from 'node:timers/promises';
import { RecordLane } from '../../../src/adapters/common/record-lane.js';
import { RecordPump } from '../../../src/adapters/common/record-pump.js';
import type { ReceivedRecord, RecordHandler, RecordHold } from '../../../src/ports/broker.js';
import { eventually } from '../../support/clocks/eventually.js';
import { itemOf, laneOf } from '../../support/scenes/pump-lane.js';

const HOUR_MS = 3_600_000;

let pump: RecordPump | undefined;
afterEach(() => {
  pump?.stop();
  jest.restoreAllMocks();
});

function setClock(byMs: number): void {
  const at = performance.now();
  const started = Date.now() + byMs;
  jest.spyOn(Date, 'now').mockImplementation(() => Math.floor(started + performance.now() - at));
}

/** When each of the records is handed out that are due after so many ms. */
function handedOut(delays: readonly number[]): number[] {
  const times: number[] = [];
  const handle = async () => void times.push(performance.now());
  pump = new RecordPump({ inFlight: 10, onDone: () => undefined });
  pump.setLanes([laneOf(delays.map((ms) => itemOf(record, handle, Date.now() + ms)))]);
  return times;
}

const record: ReceivedRecord = {
  topic: 't',
  partition: 0,
  offset: 0,
  timestamp: 0,
  key: null,
  value: null,
  headers: [],
};

test.each([
  ['back', -HOUR_MS],
  ['forward', HOUR_MS],
])('a clock that is set %s an hour moves nothing that waits', async (_, ms) => {
  const begun = performance.now();
  const times = handedOut([100, 200]);
  setClock(ms);
  await eventually(() => times.length === 2, { timeout: 5_000 });
  expect((times[0] ?? 0) - begun).toBeGreaterThanOrEqual(99);
  expect((times[1] ?? 0) - begun).toBeGreaterThanOrEqual(199);
});

/** A lane with records of 1,000 bytes, one without further word. */
function laneWith(handle: RecordHandler, topic: string, count = 1, bytes = 1_000) {
  const place = { topic, partition: 0, offset: 0, timestamp: 0 };
  const record: ReceivedRecord = { ...place, key: null, value: Buffer.alloc(bytes), headers: [] };
  return laneOf(Array.from({ length: count }, () => itemOf(record, handle)));
}

test('what pauses holds its bytes no longer where its lane is gone', async () => {
  const calls: string[] = [];
  const handle = async ({ topic }: ReceivedRecord) => {
    calls.push(topic);
    if (topic === 'lost') throw new Error('rejected');
  };
  pump = new RecordPump({ inFlight: 10, inFlightBytes: 1_000, onDone: () => undefined });
  pump.setLanes([laneWith(handle, 'lost')]);
  await eventually(() => calls.length === 1);
  pump.setLanes([laneWith(handle, 'kept')]);
  await eventually(() => calls.includes('kept'));
  expect(calls).toEqual(['lost', 'kept']);
});

test('a record holds the bytes of the content that its handler kept, so the next one starts', async () => {
  const calls: string[] = [];
  const handle = async (received: ReceivedRecord, hold: RecordHold) => {
    calls.push(received.topic);
    if (received.topic === 'first') hold.keep({ key: null, value: Buffer.alloc(10), headers: [] });
    await new Promise(() => undefined);
  };
  pump = new RecordPump({ inFlight: 10, inFlightBytes: 1_000, onDone: () => undefined });
  pump.setLanes([laneWith(handle, 'first'), laneWith(handle, 'second'), laneWith(handle, 'third')]);
  await eventually(() => calls.length === 2);
  await turn();
  expect(calls).toEqual(['first', 'second']);
});

test('a part that is done leads to a commit, as a record does', async () => {
  const commits: string[] = [];
  const handle = async (_: ReceivedRecord, hold: RecordHold) => {
    hold.partDone(1);
    await new Promise(() => undefined);
  };
  pump = new RecordPump({ inFlight: 10, onDone: () => void commits.push('commit') });
  pump.setLanes([laneWith(handle, 'one')]);
  await eventually(() => commits.length === 1);
});

test('key and headers count towards the bytes in flight, each header with 256 bytes beside its text', async () => {
  const place = { topic: 'headed', partition: 0, timestamp: 0 };
  const headers = Array.from({ length: 3 }, (_, n): [string, Buffer] => [`h${n}`, Buffer.from('text')]);
  const record = (offset: number) => ({ ...place, offset, key: Buffer.alloc(10), value: Buffer.alloc(5), headers });
  const bytes = 10 + 5 + 3 * (256 + 2 + 4);
  let calls = 0;
  const handle = () => {
    calls += 1;
    return new Promise<void>(() => undefined);
  };
  pump = new RecordPump({ inFlight: 10, inFlightBytes: 2 * bytes, onDone: () => undefined });
  pump.setLanes([laneOf([0, 1, 2].map((offset) => itemOf(record(offset), handle)))]);
  await eventually(() => calls === 2);
  await turn();
  expect(pump.inHand).toBe(2);
});

test('in one turn of the event loop a mebibyte is handed out, and then it is the turn of others', async () => {
  let calls = 0;
  const handle = () => {
    calls += 1;
    return new Promise<void>(() => undefined);
  };
  pump = new RecordPump({ inFlight: 100, onDone: () => undefined });
  pump.setLanes([laneWith(handle, 'long', 10, 256 * 1024)]);
  const counts: number[] = [];
  for (let n = 0; n < 3; n += 1) {
    await turn();
    counts.push(calls);
  }
  expect(counts).toEqual([4, 8, 10]);
});

test('records that were done before are committed, also if they arrive after the last one that was not', async () => {
  const lane = new RecordLane(2, { records: new Set([3, 4]), parts: new Map() });
  const committable: (number | null)[] = [];
  const onDone = () => void committable.push(lane.unremembered);
  pump = new RecordPump({ inFlight: 10, onDone });
  pump.setLanes([lane]);
  lane.add([itemOf({ ...record, offset: 2 })], 3);
  pump.pumpNextTurn();
  await eventually(() => committable.includes(3));
  lane.remembered(3);
  lane.add(
    [3, 4].map((offset) => itemOf({ ...record, offset })),
    5,
  );
  pump.pumpNextTurn();
  await eventually(() => committable.includes(5));
});

test('in one turn of the event loop handlers work for about 20 ms, and then it is the turn of others', async () => {
  let [calls, now] = [0, 0];
  jest.spyOn(performance, 'now').mockImplementation(() => now);
  const handle = () => {
    calls += 1;
    now += 7;
    return new Promise<void>(() => undefined);
  };
  pump = new RecordPump({ inFlight: 100, onDone: () => undefined });
  pump.setLanes([laneOf(Array.from({ length: 7 }, () => ({ ...itemOf(record, handle), due: 0 })))]);
  const counts: number[] = [];
  for (let n = 0; n < 3; n += 1) {
    await turn();
    counts.push(calls);
  }
  expect(counts).toEqual([3, 6, 7]);
});

test('where one record may begin at a time, lanes take turns', async () => {
  const calls: string[] = [];
  const handle = async ({ topic }: ReceivedRecord) => void calls.push(topic);
  const lanes = [0, 1, 2].map((partition) =>
    laneOf([0, 1, 2].map((offset) => itemOf({ ...record, topic: `tier-${partition}`, offset }, handle))),
  );
  let may = 0;
  const mayBegin = () => {
    may -= 1;
    return may === 0;
  };
  pump = new RecordPump({
    inFlight: 10,
    mayBegin,
    onDone: () => undefined,
  });
  pump.setLanes(lanes);
  for (let n = 1; n <= 3; n += 1) {
    may = 1;
    pump.pump();
    await eventually(() => calls.length === n, { timeout: 60_000 });
  }
  expect(calls).toEqual(['tier-0', 'tier-1', 'tier-2']);
});

test('where reading ahead fails, what was read is handed out, and what was rejected comes again', async () => {
  const calls: number[] = [];
  const handle = async ({ offset }: ReceivedRecord) => {
    calls.push(offset);
    if (calls.length === 1) throw new Error('not now');
  };
  const lane = laneOf([0, 1].map((offset) => itemOf({ ...record, offset }, handle)));
  jest.spyOn(lane, 'readAhead').mockImplementation(() => {
    throw new Error('the page cannot be read');
  });
  pump = new RecordPump({ inFlight: 1, onDone: () => undefined });
  pump.setLanes([lane]);
  await eventually(() => calls.length === 3, { timeout: 60_000 });
  expect(calls.sort()).toEqual([0, 0, 1]);
});
