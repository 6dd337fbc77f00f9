/** Times in the reader's language and zone, and in UTC. */
import { locale } from '../state/preferences.js';

const formats = new Map<string, Intl.DateTimeFormat>();

function format(time: Date, options: Intl.DateTimeFormatOptions): string {
  const key = locale.value + JSON.stringify(options);
  const made = formats.get(key) ?? new Intl.DateTimeFormat(locale.value, { hourCycle: 'h23', ...options });
  formats.set(key, made);
  return made.format(time);
}

const CLOCK = { hour: '2-digit', minute: '2-digit', second: '2-digit' } as const;
const DAY = { day: 'numeric', month: 'short' } as const;

/** History goes back for years: the year is shown where it is not this one. */
const dayOf = (time: Date) =>
  time.getFullYear() === new Date().getFullYear() ? DAY : ({ ...DAY, year: 'numeric' } as const);

export const clock = (time: Date) => format(time, CLOCK);
export const clockMs = (time: Date) => format(time, { ...CLOCK, fractionalSecondDigits: 3 });
export const day = (time: Date) => format(time, dayOf(time));
export const minute = (time: Date) => format(time, { ...dayOf(time), hour: '2-digit', minute: '2-digit' });
export const hourMinute = (time: Date) => format(time, { hour: '2-digit', minute: '2-digit' });
/** Beside the reader's own day and clock: the day where it is another; where the clocks are the same, only the zone's name. */
export function utcClock(time: Date): string {
  if (time.getTimezoneOffset() === 0) return 'UTC';
  const isSameDay = time.getDate() === time.getUTCDate();
  return `${format(time, { ...(isSameDay ? {} : DAY), ...CLOCK, timeZone: 'UTC' })} UTC`;
}
/** With its zone. */
export const full = (time: Date) =>
  format(time, { dateStyle: 'long', timeStyle: 'long' } as Intl.DateTimeFormatOptions);
