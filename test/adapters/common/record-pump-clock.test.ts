import { type LaneItem, laneItem } from '../../../src/adapters/common/record-lane.js';
import { RecordPump } from '../../../src/adapters/common/record-pump.js';
import type { ReceivedRecord } from '../../../src/ports/broker.js';
import { eventually } from '../../support/clocks/eventually.js';
import { laneOf } from '../../support/scenes/pump-lane.js';

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

/** Those whose turn came, with when it did. */
function handedOut(records: readonly LaneItem[]): number[] {
  const times: number[] = [];
  const handler = async () => void times.push(performance.now());
  pump = new RecordPump({ inFlight: 10, handler, onDone: () => undefined });
  pump.setLanes([laneOf(records)]);
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
  const times = handedOut([100, 200].map((ms) => laneItem(record, () => Date.now() + ms)));
  setClock(ms);
  await eventually(() => times.length === 2, { timeout: 5_000 });
  expect((times[0] ?? 0) - begun).toBeGreaterThanOrEqual(99);
  expect((times[1] ?? 0) - begun).toBeGreaterThanOrEqual(199);
});
