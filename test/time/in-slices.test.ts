import { forEachInSlices } from '../../src/time/in-slices.js';

let time: number;
let ticks: number;
let counting: NodeJS.Immediate;

beforeEach(() => {
  time = 0;
  ticks = 0;
  const count = () => {
    ticks += 1;
    counting = setImmediate(count);
  };
  counting = setImmediate(count);
});
afterEach(() => clearImmediate(counting));

/** Each visit takes 1 ms. */
async function visited(values: readonly number[], last = Number.POSITIVE_INFINITY): Promise<number[]> {
  const seen: number[] = [];
  const visit = (value: number) => {
    time += 1;
    seen.push(value);
    return value !== last;
  };
  await forEachInSlices(values, visit, () => time);
  return seen;
}

test('all values are visited in their order, and the event loop runs after every 5 ms', async () => {
  const values = Array.from({ length: 100 }, (_, index) => index);
  expect(await visited(values)).toEqual(values);
  expect(ticks).toBeGreaterThanOrEqual(19);
});

test('short work is done in one tick', async () => {
  expect(await visited([1, 2, 3])).toEqual([1, 2, 3]);
  expect(ticks).toBe(0);
});

test('a visit that returns false is the last one', async () => {
  expect(await visited([1, 2, 3, 4], 2)).toEqual([1, 2]);
});
