/** Numbers and durations in the reader's language. */
import { locale } from '../state/preferences.js';

const formats = new Map<string, Intl.NumberFormat>();

function format(options: Intl.NumberFormatOptions): Intl.NumberFormat {
  const key = locale.value + JSON.stringify(options);
  const made = formats.get(key) ?? new Intl.NumberFormat(locale.value, options);
  formats.set(key, made);
  return made;
}

export const whole = (value: number) => format({ maximumFractionDigits: 0 }).format(value);

/** 12.3K, for axes. */
export const compact = (value: number) => format({ notation: 'compact', maximumFractionDigits: 1 }).format(value);

/** Never 100 % where something failed. @param share 0 to 1 */
export function percent(share: number): string {
  const shown = share < 1 ? Math.min(share, 0.9999) : share;
  return format({ style: 'percent', maximumFractionDigits: shown > 0.99 ? 2 : 1 }).format(shown);
}

const unit = (value: number, name: string, digits = 0) =>
  format({ style: 'unit', unit: name, unitDisplay: 'short', maximumFractionDigits: digits }).format(value);

/** Of a call: 84 ms, 1.2 sec. */
export function latency(ms: number): string {
  return ms < 1_000 ? unit(Math.round(ms), 'millisecond') : unit(ms / 1_000, 'second', ms < 10_000 ? 1 : 0);
}

const UNITS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const;

/** The two largest units, rounded: 2 hr 13 min; one of ten and more: 11 min. */
export function duration(ms: number): string {
  let rest = rounded(Math.max(0, Math.round(ms / 1_000)));
  const first = UNITS.findIndex(([, seconds]) => rest >= seconds);
  if (first < 0) return unit(0, 'second');
  const parts = UNITS.slice(first, first + 2).map(([name, seconds]) => {
    const count = Math.floor(rest / seconds);
    rest -= count * seconds;
    return count > 0 ? unit(count, name) : '';
  });
  return parts.filter(Boolean).join(' ');
}

/** To the smallest unit that is shown. */
function rounded(seconds: number): number {
  const first = UNITS.findIndex(([, unit]) => seconds >= unit);
  const [, largest] = UNITS[first] ?? ['second', 1];
  const [, next] = UNITS[first + 1] ?? ['second', 1];
  const smallest = seconds < 10 * largest ? next : largest;
  return Math.round(seconds / smallest) * smallest;
}
