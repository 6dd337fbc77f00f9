import { CpuBudget } from '../../../src/delivery/isolation/slot-pools.js';
import { HOLD_MS } from '../../../src/delivery/isolation/slots.js';

let budget: CpuBudget;
let now: number;
/** An attempt whose slot was to be free 50 ms after it began. */
const held = (lateMs: number, isUsed = true) => {
  const beganAt = now;
  now += HOLD_MS + lateMs;
  budget.held(beganAt, now, isUsed);
};
beforeEach(() => {
  budget = new CpuBudget();
  now = 1;
});

describe('the budget', () => {
  it('begins with 30 ms', () => expect(budget.ms).toBe(30));

  it('grows by 5 ms in 50 while attempts wait for it and the event loop is not late, up to 200 ms', () => {
    held(10);
    expect(budget.ms).toBe(35);
    for (let n = 0; n < 100; n += 1) held(10);
    expect(budget.ms).toBe(200);
  });

  it('grows once for attempts that began together', () => {
    for (let n = 0; n < 5; n += 1) budget.held(1, 1 + HOLD_MS, true);
    expect(budget.ms).toBe(35);
  });

  it('does not grow while nothing waits for it', () => {
    held(0, false);
    expect(budget.ms).toBe(30);
  });

  it('is halved when the event loop is late, down to 30 ms', () => {
    for (let n = 0; n < 100; n += 1) held(0);
    held(31);
    expect(budget.ms).toBe(100);
    for (let n = 0; n < 5; n += 1) held(31);
    expect(budget.ms).toBe(30);
  });

  it('is halved once for attempts that began together', () => {
    for (let n = 0; n < 100; n += 1) held(0);
    for (let n = 0; n < 5; n += 1) budget.held(now, now + HOLD_MS + 40, true);
    expect(budget.ms).toBe(100);
  });
});
