/** Numbers and durations in the reader's language. */
import { locale } from '../state/preferences.js';

const format = (value: number, options: Intl.NumberFormatOptions) => value.toLocaleString(locale.value, options);

export const whole = (value: number) => format(value, { maximumFractionDigits: 0 });

/** With each of its digits: as a number it could lose some. What is none stays as it is. */
export function amountText(amount: string): string {
  if (!/^-?\d+(\.\d+)?$/.test(amount)) return amount;
  const minimumFractionDigits = amount.split('.')[1]?.length ?? 0;
  return new Intl.NumberFormat(locale.value, { minimumFractionDigits }).format(amount as `${number}`);
}

/** Never 100 % where something failed. @param share 0 to 1 */
export function percent(share: number): string {
  const shown = share < 1 ? Math.min(share, 0.9999) : share;
  return format(shown, { style: 'percent', maximumFractionDigits: shown > 0.99 ? 2 : 1 });
}

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
  ['millisecond', 1],
] as const;

/** In the largest unit that it has one of: 2.2 hr, 11 min, 84 ms. */
export function duration(ms: number): string {
  const [name, length] = UNITS.find(([, length]) => ms >= length) ?? ['millisecond', 1];
  const count = ms / length;
  const digits = count < 10 && name !== 'millisecond' ? 1 : 0;
  return format(count, { style: 'unit', unit: name, unitDisplay: 'short', maximumFractionDigits: digits });
}
