import { retryAfterMs } from '../../../src/delivery/attempt/classification.js';

const NOW = Date.UTC(2026, 10, 21, 8, 0, 0);

test.each([
  ['0', 0],
  ['120', 120_000],
  [' 5 ', 5_000],
  ['007', 7_000],
  ['9'.repeat(400), Number.MAX_SAFE_INTEGER],
  // the three forms of a date
  ['Sat, 21 Nov 2026 08:02:00 GMT', 120_000],
  ['Saturday, 21-Nov-26 08:02:00 GMT', 120_000],
  ['Sat Nov 21 08:02:00 2026', 120_000],
  ['Tue Dec  1 08:00:00 2026', 10 * 86_400_000],
  ['Sat, 29 Feb 2028 08:00:00 GMT', 465 * 86_400_000],
  // past dates
  ['Sun, 06 Nov 1994 08:49:37 GMT', 0],
  ['Sunday, 06-Nov-94 08:49:37 GMT', 0],
])('%j says how long to wait', (value, expected) => expect(retryAfterMs(value, NOW)).toBe(expected));

test.each([
  '',
  '-1',
  '+5',
  '1.5',
  '5s',
  '0x10',
  '1e3',
  '5, 6',
  'soon',
  '2026-11-21T08:02:00Z',
  'Sat, 21 Nov 2026 08:02:00',
  'Sat, 21 Nov 2026 08:02:00 CET',
  'sat, 21 nov 2026 08:02:00 gmt',
  'Sat, 21 Nov 2026 08:60:00 GMT',
  // A pattern took minutes for this one, and nothing else ran.
  `Mon, ${'-'.repeat(600)}`,
  `Mon, 21 ${' -'.repeat(30_000)}`,
])('%j is neither seconds nor a date', (value) => expect(retryAfterMs(value, NOW)).toBeNull());
