const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const MONTH = `(?<month>${MONTHS.join('|')})`;
const TIME = '(?<hour>\\d\\d):(?<minute>\\d\\d):(?<second>\\d\\d)';

/** The three forms of an HTTP-date, RFC 9110 section 5.6.7: IMF-fixdate, RFC 850, asctime. */
const HTTP_DATES = [
  new RegExp(`^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), (?<day>\\d\\d) ${MONTH} (?<year>\\d{4}) ${TIME} GMT$`),
  new RegExp(`^(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, (?<day>\\d\\d)-${MONTH}-(?<year>\\d\\d) ${TIME} GMT$`),
  new RegExp(`^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) ${MONTH} (?<day>[ \\d]\\d) ${TIME} (?<year>\\d{4})$`),
];

/**
 * The delay that a Retry-After header asks for (RFC 9110 section 10.2.3: seconds or an HTTP-date), in ms from `now` (ms
 * since the epoch). 0 for a date in the past; null if the value is neither.
 */
export function retryAfterMs(value: string, now: number): number | null {
  const text = value.trim();
  if (/^\d+$/.test(text)) return Math.min(Number(text) * 1000, Number.MAX_SAFE_INTEGER);
  const date = parseHttpDate(text, now);
  return date === null ? null : Math.max(0, date - now);
}

function parseHttpDate(text: string, now: number): number | null {
  for (const form of HTTP_DATES) {
    const fields = form.exec(text)?.groups;
    if (fields !== undefined) return toEpoch(fields, now);
  }
  return null;
}

function toEpoch(fields: Record<string, string>, now: number): number | null {
  const { day = '', month = '', year = '', hour, minute, second } = fields;
  const fullYear = year.length === 2 ? nearYear(Number(year), now) : Number(year);
  const midnight = Date.UTC(fullYear, MONTHS.indexOf(month), Number(day));
  const [h, m, s] = [Number(hour), Number(minute), Number(second)];
  // Date.UTC turns a 31st of February into March; 60 is a leap second.
  const exists = new Date(midnight).getUTCDate() === Number(day) && h < 24 && m < 60 && s <= 60;
  return exists ? midnight + ((h * 60 + m) * 60 + s) * 1000 : null;
}

/** A two-digit year that seems more than 50 years ahead means the latest past year with these digits (RFC 9110). */
function nearYear(lastDigits: number, now: number): number {
  const thisYear = new Date(now).getUTCFullYear();
  const year = thisYear - (thisYear % 100) + lastDigits;
  return year > thisYear + 50 ? year - 100 : year;
}
