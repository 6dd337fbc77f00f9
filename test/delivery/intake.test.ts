import { expect, test } from '@jest/globals';
import { createIntake } from '../../src/delivery/intake.js';

/** The answers, and how often it was asked whether the process is busy. */
function intake() {
  const now = { waiting: 0, busy: true, asked: 0 };
  const mayBegin = createIntake({
    gate: now,
    isBusy: () => {
      now.asked += 1;
      return now.busy;
    },
  });
  return { now, mayBegin };
}

test('records are taken while few deliveries wait, however busy the process is', () => {
  const { now, mayBegin } = intake();
  for (now.waiting = 0; now.waiting <= 1_500; now.waiting += 1) expect(mayBegin()).toBe(true);
  expect(now.asked).toBe(0);
});

test('they are taken while the process has time, however many wait: it is endpoints that are slow', () => {
  const { now, mayBegin } = intake();
  Object.assign(now, { waiting: 7_500, busy: false });
  expect(mayBegin()).toBe(true);
});

test('where many wait and the process is busy they are held, until few wait', () => {
  const { now, mayBegin } = intake();
  const heldAt = (waiting: number) => {
    now.waiting = waiting;
    return !mayBegin();
  };
  expect([1_500, 1_501, 1_500, 501, 500, 501, 1_500, 1_501].map(heldAt)).toEqual([
    ...[false, true, true, true],
    ...[false, false, false, true],
  ]);
});

test('or until the process has time', () => {
  const { now, mayBegin } = intake();
  now.waiting = 2_000;
  expect(mayBegin()).toBe(false);
  now.busy = false;
  expect(mayBegin()).toBe(true);
  // What waits for slow endpoints stays; as soon as there is no time left, it is held again.
  now.busy = true;
  expect(mayBegin()).toBe(false);
});
