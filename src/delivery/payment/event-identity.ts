/**
 * Identifies a payment event within its account: by id, or for a CloudEvent by source and id together. The key is JSON,
 * a string or a pair: this keeps halves of surrogate pairs distinct and never confuses the two kinds.
 */

export interface EventIdentity {
  readonly eventId: string;
  /** Null for an event other than a CloudEvent. */
  readonly eventSource: string | null;
}

export function keyOfEvent({ eventId, eventSource }: EventIdentity): string {
  return JSON.stringify(eventSource === null ? eventId : [eventSource, eventId]);
}

/** Null for a text not made by keyOfEvent. */
export function eventOfKey(key: string): EventIdentity | null {
  let parsed: unknown;
  try {
    parsed = JSON.parse(key);
  } catch {
    return null;
  }
  if (typeof parsed === 'string') return { eventId: parsed, eventSource: null };
  const [eventSource, eventId] = Array.isArray(parsed) ? parsed : [];
  return typeof eventSource === 'string' && typeof eventId === 'string' ? { eventId, eventSource } : null;
}
