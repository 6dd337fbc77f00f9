/** Figures as they are read. */
import type { Figure, Unit } from './row.js';
import { type Summary, summary } from './statistics.js';

const DIGITS: Readonly<Record<Unit, number>> = {
  ratio: 2,
  'a second': 0,
  us: 0,
  ms: 1,
  s: 2,
  MiB: 0,
  '% of a core': 2,
  lost: 0,
  failed: 0,
  deferred: 0,
};

export function amount(value: number, unit: Unit): string {
  const digits = DIGITS[unit];
  const text = value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return unit === 'ratio' ? text : `${text} ${unit}`;
}

/** The median, and the least and the most in brackets where there are several. */
export function measured(values: readonly number[], unit: Unit): string {
  const { median } = summary(values);
  return values.length > 1 ? `${amount(median, unit)} (${spread(summary(values), unit)})` : amount(median, unit);
}

export function spread({ least, most }: Summary, unit: Unit): string {
  const bare = (value: number) => amount(value, unit).replace(` ${unit}`, '');
  return `${bare(least)} to ${bare(most)}`;
}

export function figureText({ kind, value, unit }: Figure): string {
  const sign = { 'at least': '>=', 'at most': '<=', below: '<', exactly: '=' }[kind];
  const text = unit === 'ratio' ? value.toFixed(2) : `${value.toLocaleString('en-US')} ${unit}`;
  return `${sign} ${text}`;
}
