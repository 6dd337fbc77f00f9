import { bytesOf, createHistoryBudget, type HistoryBudget } from '../../src/webhooks/account-buckets.js';

const HOUR = 3_600_000;

describe('a budget', () => {
  let clock = 1_000_000.5;
  const of = (bytes: number) => createHistoryBudget(bytes, () => clock);
  /** How many of them are taken, of so many. */
  const taken = (budget: HistoryBudget, times: number, bytes = 100, account = 1) =>
    Array.from({ length: times }, () => budget.take(account, bytes)).filter((ms) => ms === 0).length;

  it('is there at once, and then used up', () => {
    const budget = of(1_000);
    expect(taken(budget, 30)).toBe(10);
    expect(budget.take(1, 1)).toBeGreaterThan(0);
  });

  it('refills by a quarter an hour, and never to more than the whole', () => {
    const budget = of(1_000);
    taken(budget, 10);
    clock += HOUR;
    expect(taken(budget, 10, 50)).toBe(5);
    clock += 100 * HOUR;
    expect(taken(budget, 30)).toBe(10);
  });

  it('says when enough has refilled: after that time it is taken, and not before', () => {
    const budget = of(1_000);
    taken(budget, 10);
    const ms = budget.take(1, 500);
    expect(ms).toBeCloseTo(2 * HOUR, 3);
    clock += ms - 1;
    expect(budget.take(1, 500)).toBeCloseTo(1, 3);
    clock += 1;
    expect(budget.take(1, 500)).toBe(0);
  });

  it('has no limit where it is 0', () => expect(of(0).take(1, Number.MAX_SAFE_INTEGER)).toBe(0));

  it('what was not appended is given back', () => {
    const budget = of(1_000);
    taken(budget, 10);
    budget.giveBack(1, 100);
    expect(taken(budget, 30)).toBe(1);
    budget.giveBack(1, 9_000);
    expect(taken(budget, 30)).toBe(10);
  });
});

it('bytes are those of data and metadata as they are stored: UTF-8 of their JSON', () => {
  const event = { id: 'an id', type: 'A type', data: { a: 'é' }, metadata: { b: 1 } };
  expect(bytesOf([event])).toBe('{"a":"é"}'.length + 1 + '{"b":1}'.length);
  expect(bytesOf([event, event])).toBe(2 * bytesOf([event]));
});
