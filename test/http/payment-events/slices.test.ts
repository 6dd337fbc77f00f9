import { setImmediate as nextTurn } from 'node:timers/promises';
import { Slices } from '../../../src/http/payment-events/publishing-pace.js';
import { spin } from '../../support/spin.js';

/** Works in steps of a millisecond. */
async function work(slices: Slices, steps: number, done: string[], name: string): Promise<void> {
  for (let step = 0; step < steps; step += 1) {
    const waiting = slices.wait();
    if (waiting) await waiting;
    slices.use(() => spin(1));
    done.push(name);
  }
}

it('work beyond a slice waits for the next turn of the event loop', async () => {
  const done: string[] = [];
  const turns: string[] = [];
  const working = work(new Slices(), 10, done, 'a');
  while (done.length < 10) {
    turns.push(String(done.length));
    await nextTurn();
  }
  await working;
  expect(turns.length).toBeGreaterThan(3);
});

it('requests that wait share the turns', async () => {
  const slices = new Slices();
  const done: string[] = [];
  await Promise.all([work(slices, 20, done, 'a'), work(slices, 20, done, 'b')]);
  expect(done.slice(0, 30)).toContain('b');
});

it('nothing waits before a slice is used', () => {
  expect(new Slices().wait()).toBeUndefined();
});
