import { expect, test } from '@jest/globals';
import { createBusyLoop } from '../../src/delivery/busy-loop.js';
import { eventually } from '../support/eventually.js';
import { spin } from '../support/spin.js';

test('a loop that never waits is busy; one that waits for something is not', async () => {
  const isBusy = createBusyLoop();
  spin(50);
  expect(isBusy()).toBe(true);
  await eventually(() => !isBusy());
  spin(50);
  expect(isBusy()).toBe(true);
});

test('it is looked at once in 20 ms: what it says costs next to nothing', () => {
  const isBusy = createBusyLoop();
  spin(50);
  expect(isBusy()).toBe(true);
  const looks = Array.from({ length: 1_000 }, isBusy);
  expect(new Set(looks)).toEqual(new Set([true]));
});
