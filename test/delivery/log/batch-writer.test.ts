import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { BatchWriter } from '../../../src/delivery/log/batch-writer.js';
import type { ViewEntry } from '../../../src/ports/deliveries-view.js';
import { entries, entry } from '../../support/deliveries-view-subject.js';

let stored: string[][];
let tries: number;
let refusing: boolean;
let batch: BatchWriter;

beforeEach(() => {
  jest.useFakeTimers();
  stored = [];
  tries = 0;
  refusing = false;
  batch = new BatchWriter((all) => {
    tries += 1;
    if (!refusing) stored.push(all.map((one) => (one.kind === 'delivery' ? one.id : one.payment)));
    return !refusing;
  });
});
afterEach(() => {
  batch.close();
  jest.useRealTimers();
});

/** What has become of each of them so far. */
function added(all: readonly ViewEntry[]): string[] {
  const outcomes = all.map(() => 'waits');
  all.forEach((one, index) => {
    const tell = (outcome: string) => () => {
      outcomes[index] = outcome;
    };
    batch.add([one]).then(tell('stored'), tell('rejected'));
  });
  return outcomes;
}

const idsOf = (all: readonly ViewEntry[]) => all.map(({ id }) => id);

test('what comes within 50 ms is stored together; until then nobody is told', async () => {
  const outcomes = added(entries(3));
  await jest.advanceTimersByTimeAsync(49);
  expect([tries, outcomes]).toEqual([0, ['waits', 'waits', 'waits']]);
  await jest.advanceTimersByTimeAsync(1);
  expect([stored, outcomes]).toEqual([[idsOf(entries(3))], ['stored', 'stored', 'stored']]);
  await jest.advanceTimersByTimeAsync(10_000);
  expect(tries).toBe(1);
});

test('as many as one transaction takes are not waited with', () => {
  added(entries(600));
  expect(stored.map(({ length }) => length)).toEqual([250, 250]);
  expect(stored.flat()).toEqual(idsOf(entries(500)));
});

test('what is refused is kept in its order, tried again every second, and not more often for what comes', async () => {
  refusing = true;
  const outcomes = added(entries(300));
  expect(tries).toBe(1);
  await jest.advanceTimersByTimeAsync(999);
  expect(tries).toBe(1);
  await jest.advanceTimersByTimeAsync(1);
  added(entries(600).slice(300));
  expect([tries, new Set(outcomes)]).toEqual([2, new Set(['waits'])]);
  refusing = false;
  await jest.advanceTimersByTimeAsync(1_000 + 2);
  expect(stored.map(({ length }) => length)).toEqual([250, 250, 100]);
  expect([stored.flat(), new Set(outcomes)]).toEqual([idsOf(entries(600)), new Set(['stored'])]);
});

test('close stores what there is', async () => {
  const outcomes = added(entries(3));
  batch.close();
  await jest.advanceTimersByTimeAsync(0);
  expect([stored, new Set(outcomes)]).toEqual([[idsOf(entries(3))], new Set(['stored'])]);
});

test('close rejects what can not be stored at once, and add what comes after it', async () => {
  refusing = true;
  const outcomes = added(entries(3));
  batch.close();
  refusing = false;
  outcomes.push(...added([entry(9)]));
  await jest.advanceTimersByTimeAsync(10_000);
  expect([tries, new Set(outcomes.slice(0, 3))]).toEqual([1, new Set(['rejected'])]);
  await expect(batch.add([entry(9)])).rejects.toThrow();
});

test('close stops the timer, and what comes after it starts none', () => {
  // In one turn: other timers of the process are fake as well.
  const before = jest.getTimerCount();
  added(entries(3));
  expect(jest.getTimerCount()).toBe(before + 1);
  batch.close();
  added([entry(9)]);
  expect(jest.getTimerCount()).toBe(before);
});
