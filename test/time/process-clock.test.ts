import { createProcessClock, type ProcessClock } from '../../src/time/process-clock.js';
import { eventually } from '../support/clocks/eventually.js';

let clock: ProcessClock | undefined;
afterEach(() => clock?.close());

test('counts the time in which the process ran, and of a standstill hardly any', () => {
  let steady = 5_000;
  clock = createProcessClock(() => steady);
  const begin = clock.now();
  const passed = [100, 8_000, 50, 3_600_000].map((ms) => {
    steady += ms;
    return (clock?.now() ?? 0) - begin;
  });
  expect(passed).toEqual([100, 300, 350, 550]);
});

test('beats of its own, so that time in which nobody asks counts in full', async () => {
  let looks = 0;
  clock = createProcessClock(() => {
    looks += 1;
    return 100 * looks;
  });
  await eventually(() => looks > 5);
  // Each look was 100 ms after the one before: the clock has counted all of them.
  expect(clock.now()).toBe(100 * (looks - 1));
});

test('calls back once the time has passed, and not where that was taken back', async () => {
  clock = createProcessClock();
  const called: string[] = [];
  clock.after(10, () => called.push('kept'));
  clock.after(1, () => called.push('taken back'))();
  await eventually(() => called.length > 0);
  expect(called).toEqual(['kept']);
});
