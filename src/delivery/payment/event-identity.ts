/**
 * What tells the payment events of an account apart: the id, of a CloudEvent source and id together. As a key both are
 * JSON, which keeps halves of surrogate pairs apart and never mistakes one kind for the other: a text, or a pair.
 */

export interface EventIdentity {
  readonly eventId: string;
  /** Null for an event that is no CloudEvent. */
  readonly eventSource: string | null;
}

export function keyOfEvent({ eventId, eventSource }: EventIdentity): string {
  return JSON.stringify(eventSource === null ? eventId : [eventSource, eventId]);
}

/** Null for a text that keyOfEvent did not make. */
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
