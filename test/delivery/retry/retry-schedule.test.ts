import fc from 'fast-check';
import { type Delay, deferralFor, jittered } from '../../../src/delivery/retry/retry-schedule.js';

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

test.each([
  ['nothing', 0, '5s'],
  ['10 min 59 s', 11 * MINUTE - 1, '5s'],
  ['11 min', 11 * MINUTE, '1m'],
  ['54 min 59 s', 55 * MINUTE - 1, '1m'],
  ['55 min', 55 * MINUTE, '5m'],
  ['5 h 29 min', 330 * MINUTE - 1, '5m'],
  ['5 h 30 min', 330 * MINUTE, '30m'],
  ['a month', 720 * HOUR, '30m'],
])('a deferred delivery is back within a tenth of the time away: %s', (_, awayMs, text) => {
  expect(deferralFor(awayMs).text).toBe(text);
});

describe('a delay with jitter', () => {
  test.each([
    [0, 5_000],
    [0.5, 5_250],
    [0.999_999, 5_499],
  ])('random %d: %d ms', (random, ms) => {
    expect(jittered(FIVE_SECONDS, () => random)).toBe(ms);
  });

  test('never less than the delay, never more than a tenth more, in whole ms', () => {
    const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    fc.assert(
      fc.property(fc.constantFrom(...DEFAULT), random, (delay, drawn) => {
        const ms = jittered(delay, () => drawn);
        expect(Number.isInteger(ms)).toBe(true);
        expect(ms).toBeGreaterThanOrEqual(delay.ms);
        expect(ms).toBeLessThanOrEqual(delay.ms * 1.1);
      }),
    );
  });
});
