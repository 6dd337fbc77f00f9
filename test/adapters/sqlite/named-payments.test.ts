import { bitOf, NamedPayments } from '../../../src/adapters/sqlite/named-payments.js';

const payment = (offset: number) => `payment-events/${offset % 12}/${offset}@${1_790_000_000_000 + offset}`;

describe('named payments', () => {
  it('may have any payment until they are complete', () => {
    const named = new NamedPayments();
    expect(named.mayHave(payment(1))).toBe(true);
    named.isComplete = true;
    expect(named.mayHave(payment(1))).toBe(false);
  });

  it('miss none of 100,000, and have at most 1 of 100 others', () => {
    const named = new NamedPayments();
    named.isComplete = true;
    const all = Array.from({ length: 100_000 }, (_, n) => payment(2 * n));
    for (const one of [...all, null, 'no position']) named.add(bitOf(one));
    expect([...all, null, 'no position'].every((one) => named.mayHave(one))).toBe(true);
    const others = all.filter((_, n) => named.mayHave(payment(2 * n + 1)));
    expect(others.length).toBeLessThan(1_000);
  });

  it('ask for a new instance once more than 1,048,576 rows were deleted', () => {
    const named = new NamedPayments();
    expect([named.delete(1_048_000), named.delete(576), named.delete(1)]).toEqual([false, false, true]);
  });
});
