import { deferralFor } from '../../../src/delivery/retry/retry-schedule.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

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
