/**
 * An Idempotency-Key belongs to the event that it caused: both stand in one append, so that over any number of processes
 * one key makes one event. It stands in the event's metadata as hashes: a store does not tell keys, nor header values.
 */
import type { NewEvent, RecordedEvent } from '../ports/event-store.js';

/** For so long the same request with the same key gets the same answer. ms */
export const KEY_COUNTS_MS = 24 * 3_600_000;
/** Clocks of several processes differ: as long as one of them may go by a key, all keep it. ms */
export const KEY_KEPT_MS = KEY_COUNTS_MS + 3_600_000;

export interface KeyUse {
  /** SHA-256 of the key. */
  readonly key: string;
  /** Fingerprint of the request (idempotency/fingerprint.ts). */
  readonly request: string;
  /** ms since the epoch. */
  readonly at: number;
  /** Of the event that the key caused. */
  readonly eventType: string;
}

/** What a command brings. */
export interface RequestKey {
  readonly key: string;
  readonly request: string;
  /** Whether a kept fingerprint is this request's. */
  isOf(fingerprint: string): boolean;
}

const FIELD = 'idempotency';

/** The events with the key in the metadata of the first one, which is what the command was about. */
export function withKey(events: readonly NewEvent[], { key, request }: RequestKey, at: number): readonly NewEvent[] {
  return events.map((event, index) =>
    index === 0 ? { ...event, metadata: { ...event.metadata, [FIELD]: { key, request, at } } } : event,
  );
}

/** Null where the event was caused without a key. */
export function keyUseOf({ type, metadata }: Pick<RecordedEvent, 'type' | 'metadata'>): KeyUse | null {
  const { key, request, at } = (metadata?.[FIELD] ?? {}) as Partial<KeyUse>;
  if (typeof key !== 'string' || typeof request !== 'string' || typeof at !== 'number') return null;
  return { key, request, at, eventType: type };
}
