/** Data and metadata of an event, as the port guarantees them. */
import { NO_OBJECT } from '../../ports/event-store.js';

export function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value) && !ArrayBuffer.isView(value);
  return isObject ? (value as Readonly<Record<string, unknown>>) : NO_OBJECT;
}

export function parsedObject(json: string): Readonly<Record<string, unknown>> {
  try {
    return objectOf(JSON.parse(json));
  } catch {
    return NO_OBJECT;
  }
}
