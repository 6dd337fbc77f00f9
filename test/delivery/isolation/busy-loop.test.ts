import { performance } from 'node:perf_hooks';
import { expect, jest, test } from '@jest/globals';
import { createBusyLoop } from '../../../src/delivery/isolation/intake.js';
import { eventually } from '../../support/eventually.js';
import { spin } from '../../support/spin.js';

test('a loop that never waits is busy; one that waits for something is not', async () => {
  const isBusy = createBusyLoop();
  spin(50);
  expect(isBusy()).toBe(true);
  await eventually(() => !isBusy());
  spin(50);
  expect(isBusy()).toBe(true);
});

test('it is looked at once in 20 ms: asked for each record it costs next to nothing', () => {
  const isBusy = createBusyLoop();
  const looks = jest.spyOn(performance, 'eventLoopUtilization');
  const from = performance.now();
  for (let asked = 0; asked < 1_000; asked += 1) isBusy();
  // A look asks twice.
  expect(looks.mock.calls.length).toBeLessThanOrEqual(2 * ((performance.now() - from) / 20));
  spin(50);
  isBusy();
  expect(looks.mock.calls.length).toBeGreaterThanOrEqual(2);
  looks.mockRestore();
});
