import { deferralFor } from '../../../src/delivery/retry/retry-schedule.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

test.each([
  ['nothing', 0, '5s'],
  ['99 s', 99_000, '5s'],
  ['100 s', 100_000, '10s'],
  ['200 s', 200_000, '20s'],
  ['26 min', 26 * MINUTE, '80s'],
  ['27 min', 27 * MINUTE, '160s'],
  ['50 min', 50 * MINUTE, '5m'],
  ['299 min', 299 * MINUTE, '10m'],
  ['300 min', 300 * MINUTE, '30m'],
  ['a month', 720 * HOUR, '30m'],
])('a deferred delivery is back within a tenth of the time away: %s', (_, awayMs, text) => {
  expect(deferralFor(awayMs).text).toBe(text);
});
