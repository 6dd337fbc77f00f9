/** HTTP-dates (RFC 9110 section 5.6.7), parsed by position: their text comes from anyone, and a pattern might backtrack. */

/** Characters of the longest HTTP-date, `Wednesday, 02-Dec-26 08:49:37 GMT`. */
export const MAX_HTTP_DATE_CHARACTERS = 33;

const DAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];
const SHORT_DAYS = DAYS.map((day) => day.slice(0, 3));
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** A digit stands for any digit, `Mon` for a month, all else for itself. The name of the day precedes it. */
const IMF_FIXDATE = ', 00 Mon 0000 00:00:00 GMT';
const RFC_850 = ', 00-Mon-00 00:00:00 GMT';
const ASCTIME = ' Mon 00 00:00:00 0000';

const SHORT_DAY_CHARACTERS = 3;
/** RFC 9110: a year of two digits that appears to be further in the future is of the past. */
const MAX_YEARS_AHEAD = 50;

interface DateFields {
  readonly day: string;
  readonly month: string;
  readonly year: string;
  /** hh:mm:ss */
  readonly time: string;
}

/**
 * The time in ms since the epoch; null for any other text and for a time that does not exist. The name of the day need
 * not be that of the date. Compares at most as many characters as the longest HTTP-date has.
 * @param now ms since the epoch: decides the century of the obsolete form with a year of two digits
 */
export function parseHttpDate(text: string, now: number): number | null {
  const comma = text.slice(0, MAX_HTTP_DATE_CHARACTERS).indexOf(',');
  const nameEnd = comma === -1 ? SHORT_DAY_CHARACTERS : comma;
  const fields = readFields(text.slice(0, nameEnd), text.slice(nameEnd, MAX_HTTP_DATE_CHARACTERS + 1));
  return fields && toTime(fields, now);
}

function readFields(name: string, rest: string): DateFields | null {
  const isShort = SHORT_DAYS.includes(name);
  if (isShort && hasForm(rest, IMF_FIXDATE)) {
    return { day: rest.slice(2, 4), month: rest.slice(5, 8), year: rest.slice(9, 13), time: rest.slice(14, 22) };
  }
  if (isShort && hasForm(withTwoDigitDay(rest), ASCTIME)) {
    return { day: rest.slice(5, 7), month: rest.slice(1, 4), year: rest.slice(17, 21), time: rest.slice(8, 16) };
  }
  if (DAYS.includes(name) && hasForm(rest, RFC_850)) {
    return { day: rest.slice(2, 4), month: rest.slice(5, 8), year: rest.slice(9, 11), time: rest.slice(12, 20) };
  }
  return null;
}

/** asctime has a space in place of the first zero. */
function withTwoDigitDay(rest: string): string {
  return rest[5] === ' ' ? `${rest.slice(0, 5)}0${rest.slice(6)}` : rest;
}

function hasForm(text: string, form: string): boolean {
  if (text.length !== form.length) return false;
  const monthAt = form.indexOf('Mon');
  for (let at = 0; at < form.length; at += 1) {
    if (at >= monthAt && at < monthAt + 3) continue;
    const character = text.charAt(at);
    if (form[at] === '0' ? character < '0' || character > '9' : character !== form[at]) return false;
  }
  return true;
}

function toTime({ day, month, year, time }: DateFields, now: number): number | null {
  const [hours = 0, minutes = 0, seconds = 0] = time.split(':').map(Number);
  const monthIndex = MONTHS.indexOf(month);
  // 60 is a leap second.
  if (monthIndex === -1 || hours > 23 || minutes > 59 || seconds > 60) return null;
  const inYear = (fullYear: number) => {
    const date = new Date(0);
    date.setUTCFullYear(fullYear, monthIndex, Number(day));
    return date.getUTCDate() === Number(day) ? date.setUTCHours(hours, minutes, seconds) : null;
  };
  return year.length === 2 ? latestWithin(Number(year), now, inYear) : inYear(Number(year));
}

/** In the latest year with these last two digits that is not too far ahead. */
function latestWithin(digits: number, now: number, inYear: (year: number) => number | null): number | null {
  const limit = new Date(now);
  limit.setUTCFullYear(limit.getUTCFullYear() + MAX_YEARS_AHEAD);
  const nextCentury = (Math.floor(limit.getUTCFullYear() / 100) + 1) * 100;
  for (const year of [nextCentury + digits - 100, nextCentury + digits - 200]) {
    const time = inYear(year);
    if (time !== null && time <= limit.getTime()) return time;
  }
  return null;
}
