import { AgeQueue } from '../../src/time/deadlines.js';
import { VirtualClock } from '../support/clocks/virtual-clock.js';

let clock: VirtualClock;
let timers: number;
let reached: string[];
let queue: AgeQueue<string>;

beforeEach(() => {
  clock = new VirtualClock();
  timers = 0;
  reached = [];
  const after = (ms: number, passed: () => void) => {
    timers += 1;
    return clock.after(ms, passed);
  };
  const told = (one: string) => reached.push(`${one} ${clock.now()}`);
  queue = new AgeQueue({ now: clock.now, after }, 1_000, told);
});

const come = (one: string) => queue.add(one, clock.now());

test('tells of each when it has reached the age', async () => {
  come('a');
  await clock.goOn(400);
  come('b');
  await clock.goOn(2_000);
  expect(reached).toEqual(['a 1000', 'b 1400']);
});

test('tells of none that has left', async () => {
  come('a');
  come('b');
  queue.delete('a');
  await clock.goOn(1_000);
  expect(reached).toEqual(['b 1000']);
});

test('has one timer, however many come', async () => {
  for (let n = 0; n < 1_000; n += 1) {
    come(String(n));
    await clock.goOn(1);
    queue.delete(String(n));
  }
  expect(timers).toBeLessThanOrEqual(2);
});
