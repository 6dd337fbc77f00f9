import { UsualRate } from '../../src/time/usual-rate.js';

const LIFE = { since: 0, leastMs: 3_000 };

/** So many a second, evenly, from then on. @returns how many of them were usual */
function go(rate: UsualRate, perSecond: number, fromMs: number, ms: number): number {
  let usual = 0;
  for (let at = fromMs; at < fromMs + ms; at += 1_000 / perSecond) {
    if (rate.isUsual(at)) usual += 1;
    rate.began(at);
    rate.counts(at);
  }
  return usual;
}

test('what goes on as it always did is usual; nothing is at first', () => {
  const rate = new UsualRate(LIFE);
  expect(rate.isUsual(0)).toBe(false);
  go(rate, 20, 0, 60_000);
  expect(go(rate, 20, 60_000, 10_000)).toBe(200);
});

test('what comes three times as often is usual for half of the times at most', () => {
  const rate = new UsualRate(LIFE);
  go(rate, 20, 0, 60_000);
  let usual = 0;
  for (let at = 60_000; at < 70_000; at += 1_000 / 60) {
    if (rate.isUsual(at)) usual += 1;
    rate.began(at);
  }
  expect(usual).toBeLessThan(300);
  expect(usual).toBeGreaterThan(200);
});

test('as much as two seconds bring may come together', () => {
  const rate = new UsualRate(LIFE);
  go(rate, 20, 0, 120_000);
  let together = 0;
  for (; rate.isUsual(122_000); together += 1) rate.began(122_000);
  expect(together).toBeGreaterThanOrEqual(35);
  expect(together).toBeLessThanOrEqual(40);
});

test('one known for less than 30 s has the rate of its life, as if that had lasted for 3 s at least', () => {
  const since = 1_000_000;
  const steady = new UsualRate({ since, leastMs: 3_000 });
  go(steady, 20, since, 5_000);
  expect(1_000 * steady.perMs).toBeGreaterThan(18);
  expect(1_000 * steady.perMs).toBeLessThan(22);
  const burst = new UsualRate({ since, leastMs: 3_000 });
  for (let n = 0; n < 30; n += 1) burst.counts(since);
  expect(1_000 * burst.perMs).toBeLessThan(11);
});

test('the usual rate of what ends is forgotten', () => {
  const rate = new UsualRate(LIFE);
  go(rate, 20, 0, 60_000);
  expect(rate.isUsual(300_000)).toBe(false);
});
