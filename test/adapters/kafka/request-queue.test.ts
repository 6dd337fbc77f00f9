import { installRepairs } from '../../../src/adapters/kafka/kafkajs-repairs/install.js';
import { RequestQueue, type RequestQueueState } from '../../../src/adapters/kafka/kafkajs-repairs/kafkajs-internals.js';

const NOW = Date.UTC(2026, 0);

let queue: RequestQueueState;
let checks: number;

beforeAll(installRepairs);

beforeEach(() => {
  jest.useFakeTimers({ now: NOW });
  checks = 0;
  queue = Object.assign(Object.create(RequestQueue.prototype), {
    pending: [],
    throttledUntil: -1,
    throttleCheckTimeoutId: null,
    checkPendingRequests: () => {
      checks += 1;
    },
  });
});

afterEach(() => {
  jest.useRealTimers();
});

it('has no timer while nothing waits', () => {
  const before = jest.getTimerCount();
  queue.scheduleCheckPendingRequests();
  expect(jest.getTimerCount()).toBe(before);
});

it.each([
  ['soon where nothing is throttled', -1, 10],
  ['when a broker takes requests again', NOW + 700, 700],
])('looks at what waits %s, once', (_, throttledUntil, afterMs) => {
  Object.assign(queue, { throttledUntil, pending: ['a request'] });
  // In one turn: other timers of the process are fake as well.
  const before = jest.getTimerCount();
  queue.scheduleCheckPendingRequests();
  queue.scheduleCheckPendingRequests();
  expect(jest.getTimerCount()).toBe(before + 1);
  jest.advanceTimersByTime(afterMs - 1);
  expect(checks).toBe(0);
  jest.advanceTimersByTime(1);
  jest.advanceTimersByTime(10_000);
  expect(checks).toBe(1);
});

it('looks for requests without an answer ten times in the time that they have, while it is connected', () => {
  const late = { sentAt: Date.now(), requestTimeout: 30_000, timeoutRequest: jest.fn() };
  const inflight = { values: jest.fn(() => [late]) };
  Object.assign(queue, { enforceRequestTimeout: true, requestTimeout: 30_000, inflight, isConnected: () => true });
  queue.scheduleRequestTimeoutCheck();
  jest.advanceTimersByTime(30_000);
  expect(inflight.values).toHaveBeenCalledTimes(10);
  expect(late.timeoutRequest).not.toHaveBeenCalled();
  Object.assign(queue, { isConnected: () => false });
  jest.advanceTimersByTime(60_000);
  expect(inflight.values).toHaveBeenCalledTimes(11);
  expect(late.timeoutRequest).toHaveBeenCalledTimes(1);
});
