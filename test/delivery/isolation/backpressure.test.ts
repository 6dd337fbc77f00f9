import { performance } from 'node:perf_hooks';
import { Backpressure, createBusyLoop } from '../../../src/delivery/isolation/backpressure.js';
import { eventually } from '../../support/eventually.js';
import { spin } from '../../support/spin.js';

const MIB = 1024 * 1024;

/** How things stand. */
let now: { waiting: number; waitingBytes: number; busy: boolean; ms: number; asked: number; looks: number };
/** What is queued for slow endpoints. */
let slow: { waiting: number; waitingBytes: number };
let backpressure: Backpressure;

beforeEach(() => {
  now = { waiting: 0, waitingBytes: 0, busy: true, ms: 0, asked: 0, looks: 0 };
  slow = { waiting: 0, waitingBytes: 0 };
  const isBusy = () => {
    now.asked += 1;
    return now.busy;
  };
  const scheduler = {
    get waiting() {
      return now.waiting;
    },
    get waitingBytes() {
      return now.waitingBytes;
    },
    queuedForFast: () => {
      now.looks += 1;
      return { waiting: now.waiting - slow.waiting, waitingBytes: now.waitingBytes - slow.waitingBytes };
    },
  };
  backpressure = new Backpressure(scheduler, isBusy, () => now.ms);
});

function mayConsumeAt(waiting: number): boolean {
  now.waiting = waiting;
  now.ms += 20;
  return backpressure.mayConsume();
}

test('records are taken while few deliveries are queued, however busy the process is', () => {
  for (let waiting = 0; waiting <= 1_500; waiting += 1) expect(mayConsumeAt(waiting)).toBe(true);
  expect([now.asked, now.looks]).toEqual([0, 0]);
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

test('or until the process has time', () => {
  expect(mayConsumeAt(2_000)).toBe(false);
  now.busy = false;
  expect(mayConsumeAt(2_000)).toBe(true);
  expect(backpressure.isPaused).toBe(false);
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
  for (let n = 0; n < 100; n += 1) backpressure.mayConsume();
  expect(now.looks).toBe(1);
  now.ms += 20;
  backpressure.mayConsume();
  expect(now.looks).toBe(2);
});

test('an event loop that never waits is busy; one that waits for something is not', async () => {
  const isBusy = createBusyLoop();
  spin(50);
  expect(isBusy()).toBe(true);
  await eventually(() => !isBusy());
  spin(50);
  expect(isBusy()).toBe(true);
});

test('the event loop is looked at once in 20 ms: asked for each record it costs next to nothing', () => {
  const from = performance.now();
  const isBusy = createBusyLoop();
  const looks = jest.spyOn(performance, 'eventLoopUtilization');
  for (let asked = 0; asked < 1_000; asked += 1) isBusy();
  // A look asks twice.
  expect(looks.mock.calls.length).toBeLessThanOrEqual(2 * ((performance.now() - from) / 20));
  spin(50);
  isBusy();
  expect(looks.mock.calls.length).toBeGreaterThanOrEqual(2);
  looks.mockRestore();
});
