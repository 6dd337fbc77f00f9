import fc from 'fast-check';
import { type Delay, dueAt, stepAfterFailure } from '../../../src/delivery/retry/retry-schedule.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DEFAULT: readonly Delay[] = [
  { text: '5s', ms: 5 * SECOND },
  { text: '5m', ms: 5 * MINUTE },
  { text: '30m', ms: 30 * MINUTE },
  ...[2, 5, 10, 14, 20, 24].map((hours) => ({ text: `${hours}h`, ms: hours * HOUR })),
];
const [FIVE_SECONDS] = DEFAULT as readonly [Delay, ...Delay[]];

/** The tiers a delivery that never succeeds waits in; each failure may ask to wait. */
function walk(schedule: readonly Delay[], retryAfters: readonly number[] = []): string[] {
  const tiers: string[] = [];
  let step = 0;
  for (let failure = 0; ; failure += 1) {
    const next = stepAfterFailure(schedule, step, retryAfters[failure] ?? null);
    const tier = next === null ? undefined : schedule[next];
    if (next === null || !tier) return tiers;
    tiers.push(tier.text);
    step = next + 1;
  }
}

describe('the tier after a failure', () => {
  test('each delay once, in order: attempts are one more than delays', () => {
    expect(walk(DEFAULT)).toEqual(['5s', '5m', '30m', '2h', '5h', '10h', '14h', '20h', '24h']);
  });

  test('a delay that is named twice is waited twice', () => {
    const twice = [FIVE_SECONDS, FIVE_SECONDS, ...DEFAULT.slice(1, 2), FIVE_SECONDS];
    expect(walk(twice)).toEqual(['5s', '5s', '5m', '5s']);
  });

  const retryAfters: readonly (readonly [what: string, step: number, ms: number, next: number | null])[] = [
    ['0: the current tier', 0, 0, 0],
    ['less than the current delay: the current tier', 2, SECOND, 2],
    ['exactly the current delay: the current tier', 0, 5 * SECOND, 0],
    ['1 ms more than it: the next', 0, 5 * SECOND + 1, 1],
    ['10 minutes: the first that covers it', 0, 10 * MINUTE, 2],
    ['more than any delay: the last', 0, 100 * HOUR, 8],
    ['the largest number: the last', 3, Number.MAX_SAFE_INTEGER, 8],
    ['at the last step: the last', 8, 100 * HOUR, 8],
    ['after the last step: none is left', 9, SECOND, null],
  ];
  test.each(retryAfters)('Retry-After of %s', (_, step, ms, next) => {
    expect(stepAfterFailure(DEFAULT, step, ms)).toBe(next);
  });

  test('only tiers from the current one on are looked at, be an earlier one longer', () => {
    const falling = [{ text: '1h', ms: HOUR }, FIVE_SECONDS, { text: '5m', ms: 5 * MINUTE }];
    expect(stepAfterFailure(falling, 1, HOUR)).toBe(2);
  });

  test('later attempts go on from the tier a Retry-After chose', () => {
    expect(walk(DEFAULT, [0, HOUR])).toEqual(['5s', '2h', '5h', '10h', '14h', '20h', '24h']);
  });
});

describe('when a delivery is due', () => {
  test.each([
    [0, 5_000],
    [0.5, 5_250],
    [0.999_999, 5_499],
  ])('random %d: %d ms from now', (random, ms) => {
    expect(dueAt(FIVE_SECONDS, 1_000_000, () => random)).toBe(1_000_000 + ms);
  });

  test('never before the delay, never more than a tenth later, in whole ms', () => {
    const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    fc.assert(
      fc.property(fc.constantFrom(...DEFAULT), random, fc.nat(2 ** 41), (delay, drawn, now) => {
        const due = dueAt(delay, now, () => drawn);
        expect(Number.isInteger(due)).toBe(true);
        expect(due - now).toBeGreaterThanOrEqual(delay.ms);
        expect(due - now).toBeLessThanOrEqual(delay.ms * 1.1);
      }),
    );
  });
});
