import { parseHttpDate } from '../../src/time/http-date.js';

const NOW = Date.UTC(2026, 10, 21, 8, 0, 0);

describe('an HTTP-date', () => {
  it.each([
    ['IMF-fixdate', 'Sun, 06 Nov 1994 08:49:37 GMT', '1994-11-06T08:49:37.000Z'],
    ['IMF-fixdate of a leap day', 'Tue, 29 Feb 2028 23:59:59 GMT', '2028-02-29T23:59:59.000Z'],
    ['IMF-fixdate with a leap second', 'Thu, 31 Dec 2026 23:59:60 GMT', '2027-01-01T00:00:00.000Z'],
    ['IMF-fixdate with another day of the week', 'Mon, 06 Nov 1994 08:49:37 GMT', '1994-11-06T08:49:37.000Z'],
    ['IMF-fixdate of an early year', 'Sat, 01 Jan 0050 00:00:00 GMT', '0050-01-01T00:00:00.000Z'],
    ['RFC 850 date', 'Sunday, 06-Nov-94 08:49:37 GMT', '1994-11-06T08:49:37.000Z'],
    ['RFC 850 date with the longest name', 'Wednesday, 02-Dec-26 08:49:37 GMT', '2026-12-02T08:49:37.000Z'],
    ['RFC 850 date up to 50 years ahead', 'Saturday, 21-Nov-76 08:00:00 GMT', '2076-11-21T08:00:00.000Z'],
    ['RFC 850 date that would be further ahead', 'Saturday, 21-Nov-76 08:00:01 GMT', '1976-11-21T08:00:01.000Z'],
    ['asctime date', 'Sun Nov  6 08:49:37 1994', '1994-11-06T08:49:37.000Z'],
    ['asctime date with a day of two digits', 'Sat Nov 21 08:02:00 2026', '2026-11-21T08:02:00.000Z'],
  ])('%s %j is %s', (_, text, expected) => {
    expect(new Date(parseHttpDate(text, NOW) ?? Number.NaN).toISOString()).toBe(expected);
  });

  it('has the next century for two digits that are closer there', () => {
    const late = Date.UTC(2099, 11, 31);
    expect(parseHttpDate('Saturday, 01-Jan-00 00:00:00 GMT', late)).toBe(Date.UTC(2100, 0, 1));
  });

  it.each([
    ['no text', ''],
    ['a number of seconds', '120'],
    ['an ISO 8601 time', '2026-11-21T08:02:00Z'],
    ['no zone', 'Sat, 21 Nov 2026 08:02:00'],
    ['another zone', 'Sat, 21 Nov 2026 08:02:00 CET'],
    ['lower case', 'sat, 21 nov 2026 08:02:00 gmt'],
    ['a day of one digit', 'Sun, 6 Nov 1994 08:49:37 GMT'],
    ['a day that the month lacks', 'Mon, 30 Feb 2026 08:00:00 GMT'],
    ['day 0', 'Mon, 00 Feb 2026 08:00:00 GMT'],
    ['hour 24', 'Sat, 21 Nov 2026 24:00:00 GMT'],
    ['minute 60', 'Sat, 21 Nov 2026 08:60:00 GMT'],
    ['second 61', 'Sat, 21 Nov 2026 08:00:61 GMT'],
    ['an unknown month', 'Sat, 21 Nav 2026 08:00:00 GMT'],
    ['an unknown day of the week', 'Sut, 21 Nov 2026 08:00:00 GMT'],
    ['digits of another script', 'Sat, ٢١ Nov 2026 08:00:00 GMT'],
    ['signs instead of digits', 'Sat, +1 Nov 2026 08:00:00 GMT'],
    ['spaces instead of digits', 'Sat, 21 Nov 2026  8:00:00 GMT'],
    ['a short name in RFC 850', 'Sun, 06-Nov-94 08:49:37 GMT'],
    ['a full name in IMF-fixdate', 'Sunday, 06 Nov 1994 08:49:37 GMT'],
    ['a zone after asctime', 'Sun Nov  6 08:49:37 1994 GMT'],
    ['text after the date', 'Sun, 06 Nov 1994 08:49:37 GMT '],
    ['a day of the week and dashes', `Mon, ${'-'.repeat(600)}`],
  ])('is not: %s, %j', (_, text) => expect(parseHttpDate(text, NOW)).toBeNull());
});
