/** What people look for a payment by: its log entry has it, so the view needs no payload. */
import { MAX_FIELD_LENGTH } from '../ports/log-entry.js';
import { isObject } from './parsed-payment.js';

/** At most 15 digits, for a double keeps those of any decimal: the text of a longer number may be another amount. */
const EXACT_NUMBER = /^\D*(\d\D*){1,15}$/;

/** Of an item of a list. `length` is a property of a list too. */
const INDEX = /^(0|[1-9]\d{0,8})$/;

/** The names, and indices of lists, on the way to each field in the event, like `data`, `pix`, `0`, `endToEndId`. */
export interface PaymentPaths {
  readonly amount: readonly string[];
  readonly reference: readonly string[];
}

export const DEFAULT_PATHS: PaymentPaths = { amount: ['data', 'amount'], reference: ['data', 'endToEndId'] };

/** Texts of 1 to 64 UTF-16 code units. Absent: the event has no such field, or another value there. */
export interface PaymentFields {
  readonly amount?: string | undefined;
  readonly reference?: string | undefined;
}

/** @param event as parsed: an object with `data` */
export function paymentFields(event: unknown, { amount, reference }: PaymentPaths = DEFAULT_PATHS): PaymentFields {
  return { amount: fieldAt(event, amount), reference: fieldAt(event, reference) };
}

function fieldAt(event: unknown, path: readonly string[]): string | undefined {
  let value = event;
  for (const name of path) {
    const isThere = Array.isArray(value) ? INDEX.test(name) : isObject(value);
    if (!isThere || !Object.hasOwn(value as object, name)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[name];
  }
  const text = typeof value === 'number' ? String(value) : value;
  if (typeof text !== 'string' || text === '' || text.length > MAX_FIELD_LENGTH) return undefined;
  return typeof value === 'number' && !EXACT_NUMBER.test(text) ? undefined : text;
}
