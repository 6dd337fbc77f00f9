import { SweepPace } from '../../../src/adapters/sqlite/sweeper.js';

const MINUTE = 60_000;

/** What part of each of so many minutes it worked, transactions of 5 ms, to two places. */
function parts(pace: SweepPace, minutes: number): number[] {
  let [passed, worked] = [0, 0];
  return Array.from({ length: minutes }, (_, minute) => {
    for (worked = 0; passed < (minute + 1) * MINUTE; passed += 5 + pace.restAfter(5, 5)) worked += 5;
    return Math.round((100 * worked) / MINUTE) / 100;
  });
}

test('it works a twentieth of the time at first, and more the longer it does not get done', () => {
  const pace = new SweepPace();
  expect(pace.restAfter(5, 5)).toBe(95);
  expect(pace.spentMs).toBe(100);
  pace.begin();
  expect(parts(pace, 5)).toEqual([0.07, 0.12, 0.16, 0.19, 0.22]);
});

test('half of the time at most, however far behind it is', () => {
  expect(parts(new SweepPace(), 30).at(-1)).toBe(0.5);
});

test('it rests at least as long as the commit kept the disk', () => {
  expect(new SweepPace().restAfter(2, 200)).toBe(200);
});

test('each round begins at a twentieth', () => {
  const pace = new SweepPace();
  parts(pace, 10);
  pace.begin();
  expect(pace.restAfter(10, 10)).toBe(190);
});

test('there is always a rest, for others to have their turns', () => {
  expect(new SweepPace().restAfter(0, 0)).toBe(1);
});
