import { Backpressure } from '../../src/delivery/backpressure.js';
import { EndpointPace } from '../../src/delivery/isolation/endpoint-pace.js';

const MIB = 1024 * 1024;

/** How things stand: what is queued, for one endpoint each that takes it within a second, and for one that takes much longer. */
let now: { waiting: number; waitingBytes: number; busy: boolean; ms: number; looks: number };
let slow: { waiting: number; waitingBytes: number };
let busyMs: number;
let backpressure: Backpressure;

/** @param ms that each of its attempts takes */
function paceOf(ms: number): EndpointPace {
  const pace = new EndpointPace();
  for (let n = 0; n < 20; n += 1) pace.succeeded(ms, n, 16);
  return pace;
}
const [FAST, SLOW] = [paceOf(1), paceOf(3_600_000)];

function endpointOf(pace: EndpointPace, { waiting, waitingBytes }: { waiting: number; waitingBytes: number }) {
  return { pace, queue: Array(waiting).fill(null), bytes: waitingBytes };
}

beforeEach(() => {
  now = { waiting: 0, waitingBytes: 0, busy: true, ms: 0, looks: 0 };
  slow = { waiting: 0, waitingBytes: 0 };
  busyMs = 0;
  const queues = {
    get waiting() {
      return now.waiting;
    },
    get waitingBytes() {
      return now.waitingBytes;
    },
    all: () => {
      now.looks += 1;
      const [waiting, waitingBytes] = [now.waiting - slow.waiting, now.waitingBytes - slow.waitingBytes];
      return [endpointOf(FAST, { waiting, waitingBytes }), endpointOf(SLOW, slow)];
    },
  };
  backpressure = new Backpressure({ queues, busyMs: () => busyMs, now: () => now.ms });
});

function goOn(ms: number): void {
  now.ms += ms;
  busyMs += now.busy ? ms : 0;
}

function mayConsumeAt(waiting: number): boolean {
  now.waiting = waiting;
  goOn(20);
  return backpressure.mayConsume();
}

test('records are taken while few deliveries are queued, however busy the process is', () => {
  for (let waiting = 0; waiting <= 1_500; waiting += 1) expect(mayConsumeAt(waiting)).toBe(true);
  expect(now.looks).toBe(0);
});

test('they are taken while the process has time, however many are queued: it is endpoints that are slow', () => {
  now.busy = false;
  expect(mayConsumeAt(7_500)).toBe(true);
});

test('where many are queued and the process is busy records stay in their topics, until few are', () => {
  expect([1_500, 1_501, 1_500, 501, 500, 501, 1_500, 1_501].map(mayConsumeAt)).toEqual([
    ...[true, false, false, false],
    ...[true, true, true, false],
  ]);
  expect(backpressure.isPaused).toBe(true);
});

test('large events are many when they have 8 MiB together', () => {
  now.waitingBytes = 8 * MIB;
  expect(mayConsumeAt(400)).toBe(true);
  now.waitingBytes += 1;
  expect(mayConsumeAt(400)).toBe(false);
  now.waitingBytes = 2 * MIB;
  expect(mayConsumeAt(100)).toBe(true);
});

test('what is queued for slow endpoints pauses nothing, though the process is busy: with something else', () => {
  slow = { waiting: 5_900, waitingBytes: 16 * MIB };
  now.waitingBytes = 16 * MIB;
  expect([6_000, 7_400, 7_401, 6_401, 6_400].map(mayConsumeAt)).toEqual([true, true, false, false, true]);
});

test('all queues are looked at once in 20 ms, however many records are asked for', () => {
  now.waiting = 2_000;
  goOn(20);
  for (let n = 0; n < 100; n += 1) backpressure.mayConsume();
  expect(now.looks).toBe(1);
  goOn(20);
  backpressure.mayConsume();
  expect(now.looks).toBe(2);
});
