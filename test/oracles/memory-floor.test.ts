import { memoryTrend } from '../support/oracles/memory-floor.js';

const MIB = 1024 * 1024;
const series = (at: (n: number) => number) => Array.from({ length: 90 }, (_, n) => MIB * (at(n) + 30 * (n % 4)));

describe('memory', () => {
  it.each<[string, boolean, (n: number) => number]>([
    ['levels off if it is constant', true, () => 200],
    ['levels off if its growth ends', true, (n) => 200 + 100 * (1 - Math.exp(-n / 15))],
    ['levels off beside a single low sample', true, (n) => (n === 45 ? 100 : 200)],
    ['does not level off if it grows steadily', false, (n) => 200 + n],
    ['does not level off if it still grows, though less than at first', false, (n) => 200 + n + 3 * Math.min(n, 30)],
    ['does not level off if it grows late', false, (n) => 200 + 2 * Math.max(0, n - 45)],
  ])('%s', (_, levelsOff, at) => {
    expect(memoryTrend(series(at)).levelsOff).toBe(levelsOff);
  });
});
