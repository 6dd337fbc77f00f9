import { requester } from '../../src/limits/user-limits.js';
import { bytesOf, createHistoryBudget, type HistoryBudget } from '../../src/webhooks/account-buckets.js';

const HOUR = 3_600_000;
const MEBIBYTE = 1024 ** 2;

describe('a budget', () => {
  let clock = 1_000_000.5;
  const of = (bytes: number) => createHistoryBudget(bytes, () => clock);
  /** How many of them are taken, of so many. */
  const taken = (budget: HistoryBudget, times: number, bytes = 100, user = 'a') =>
    Array.from({ length: times }, () => budget.take(requester(1, user), bytes)).filter((ms) => ms === 0).length;

  it('can be used up in one burst, half of it by one user', () => {
    const budget = of(1_000);
    expect([taken(budget, 30), taken(budget, 30, 100, 'b'), taken(budget, 30, 100, 'c')]).toEqual([5, 5, 0]);
    expect(budget.take(requester(1, 'c'), 1)).toBeGreaterThan(0);
    expect(budget.take(requester(2, 'c'), 1)).toBe(0);
  });

  it('accepts a command of more than half of it', () => {
    const budget = of(1_000);
    expect([taken(budget, 1, 900), taken(budget, 1, 1)]).toEqual([1, 0]);
  });

  it('refills by a quarter an hour, and never to more than the whole', () => {
    const budget = of(1_000);
    for (const user of ['a', 'b']) taken(budget, 5, 100, user);
    clock += HOUR;
    expect(taken(budget, 10, 25)).toBe(5);
    clock += 100 * HOUR;
    expect(taken(budget, 30)).toBe(5);
  });

  it('says when enough has refilled: after that time it is taken, and not before', () => {
    const budget = of(1_000);
    taken(budget, 5);
    const take = () => budget.take(requester(1, 'a'), 250);
    const ms = take();
    expect(ms).toBeCloseTo(2 * HOUR, 3);
    clock += ms - 1;
    expect(take()).toBeCloseTo(1, 3);
    clock += 1;
    expect(take()).toBe(0);
  });

  describe('that a reserve may exceed', () => {
    const reserved = (user: string) => ({ ...requester(1, user), mayExceed: () => true });
    const rotated = (budget: HistoryBudget, user: string) => {
      let bytes = 0;
      while (bytes < MEBIBYTE && budget.take(reserved(user), 500) === 0) bytes += 500;
      return bytes;
    };

    it('is exceeded by 64 KiB, half of it by a user whose share is used up, and then by what refills', () => {
      const budget = of(MEBIBYTE);
      for (const user of ['a', 'b']) taken(budget, 1, MEBIBYTE / 2, user);
      // The one that reaches the ceiling is the last.
      expect([rotated(budget, 'a'), rotated(budget, 'c'), rotated(budget, 'd')]).toEqual([33_000, 33_000, 0]);
      clock += HOUR;
      expect(rotated(budget, 'e')).toBe(MEBIBYTE / 4 - ((MEBIBYTE / 4) % 500));
    });

    it('charges what exceeds it', () => {
      const budget = of(MEBIBYTE);
      for (const user of ['a', 'b']) taken(budget, 1, MEBIBYTE / 2, user);
      budget.take(reserved('c'), 32 * 1024);
      clock += HOUR / 8;
      expect(taken(budget, 1, 1, 'd')).toBe(0);
      clock += 1_000;
      expect(taken(budget, 1, 1, 'd')).toBe(1);
    });

    it('asks for nothing of the reserve while there is enough', () => {
      const mayExceed = jest.fn(() => true);
      expect(of(MEBIBYTE).take({ ...requester(1, 'a'), mayExceed }, 512)).toBe(0);
      expect(mayExceed).not.toHaveBeenCalled();
    });
  });

  it('has no limit where it is 0', () => expect(of(0).take(requester(1, 'a'), Number.MAX_SAFE_INTEGER)).toBe(0));

  it('what was not appended is given back', () => {
    const budget = of(1_000);
    taken(budget, 5);
    budget.giveBack(requester(1, 'a'), 100);
    expect(taken(budget, 30)).toBe(1);
    budget.giveBack(requester(1, 'a'), 9_000);
    expect(taken(budget, 30)).toBe(5);
  });
});

it('bytes are those of data and metadata as they are stored: UTF-8 of their JSON', () => {
  const event = { id: 'an id', type: 'A type', data: { a: 'é' }, metadata: { b: 1 } };
  expect(bytesOf([event])).toBe('{"a":"é"}'.length + 1 + '{"b":1}'.length);
  expect(bytesOf([event, event])).toBe(2 * bytesOf([event]));
});
