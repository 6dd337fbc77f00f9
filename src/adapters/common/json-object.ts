/** Data and metadata of an event, as the port guarantees them. */
import { MAX_EVENT_BYTES, MAX_NESTING, NO_OBJECT } from '../../ports/event-store.js';

export function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value) && !ArrayBuffer.isView(value);
  const isBounded = isObject && roomLeft(value, MAX_EVENT_BYTES, MAX_NESTING) >= 0;
  return isBounded ? (value as Readonly<Record<string, unknown>>) : NO_OBJECT;
}

/**
 * How many of the characters are left, a number with its comma counted as two; negative if the value exceeds them or the levels.
 * It descends no further than the levels, so a hostile value cannot exhaust the stack.
 */
function roomLeft(value: unknown, characters: number, levels: number): number {
  if (typeof value === 'string') return characters - value.length;
  if (typeof value !== 'object' || value === null) return characters - 2;
  if (levels === 0) return -1;
  const members = Array.isArray(value) ? value : Object.values(value);
  let left = characters;
  for (let at = 0; at < members.length && left >= 0; at += 1) left = roomLeft(members[at], left, levels - 1);
  return left;
}

export function parsedObject(json: string): Readonly<Record<string, unknown>> {
  try {
    return objectOf(JSON.parse(json));
  } catch {
    return NO_OBJECT;
  }
}
