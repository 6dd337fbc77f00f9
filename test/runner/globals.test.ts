/** Fake timers are the process's: what Node.js and jest's worker wait for must go on under them. */
import { once } from 'node:events';
import { Readable } from 'node:stream';

beforeEach(() => void jest.useFakeTimers({ now: 1_000 }));
afterEach(() => void jest.useRealTimers());

test('timers and the date are fake', () => {
  const seen: number[] = [];
  setTimeout(() => seen.push(Date.now()), 500);
  const every = setInterval(() => seen.push(Date.now()), 400);
  expect(jest.getTimerCount()).toBe(2);
  jest.advanceTimersByTime(800);
  clearInterval(every);
  expect([seen, jest.getTimerCount()]).toEqual([[1_400, 1_500, 1_800], 0]);
});

test.each<[string, (done: () => void) => void]>([
  ['process.nextTick', (done) => process.nextTick(done)],
  ['queueMicrotask', (done) => queueMicrotask(done)],
  ['setImmediate', (done) => void setImmediate(done)],
])('%s is not, and does not count as a timer', async (_, call) => {
  const called = new Promise<void>(call);
  expect(jest.getTimerCount()).toBe(0);
  await called;
});

test('a stream of Node.js, which reads by ticks, comes to its end', async () => {
  const stream = Readable.from(['one']).resume();
  await once(stream, 'end');
  expect(stream.readableEnded).toBe(true);
});
