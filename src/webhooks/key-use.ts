/**
 * An Idempotency-Key belongs to the event that it caused: one append stores both, so that across any number of
 * processes one key makes one event. The event's metadata has only hashes: a store must reveal neither keys nor header
 * values.
 */
import type { NewEvent, RecordedEvent } from '../ports/event-store.js';
import type { RegisteredWebhook } from './state.js';

/** How long the same request with the same key gets the same response. ms */
export const KEY_COUNTS_MS = 24 * 3_600_000;
/** Processes' clocks differ: all keep a key for as long as one of them may honour it. ms */
export const KEY_KEPT_MS = KEY_COUNTS_MS + 3_600_000;

export interface KeyUse {
  /** SHA-256 of the key. */
  readonly key: string;
  /** Fingerprint of the request (idempotency/fingerprint.ts). */
  readonly request: string;
  /** ms since the epoch. */
  readonly at: number;
  /** The type of the event that the key caused. */
  readonly eventType: string;
  readonly webhook: RegisteredWebhook;
}

/** The key as part of a command. */
export interface RequestKey {
  readonly key: string;
  readonly request: string;
  /** Whether a stored fingerprint is this request's. */
  isOf(fingerprint: string): boolean;
}

const FIELD = 'idempotency';

/** Adds the use of the key to the metadata of the first event, which carries the command's main effect. */
export function withKey(events: readonly NewEvent[], use: Omit<KeyUse, 'eventType'>): readonly NewEvent[] {
  return events.map((event, index) =>
    index === 0 ? { ...event, metadata: { ...event.metadata, [FIELD]: use } } : event,
  );
}

/** Null if the event was caused without a key. */
export function keyUseOf({ type, metadata }: Pick<RecordedEvent, 'type' | 'metadata'>): KeyUse | null {
  const { key, request, at, webhook } = (metadata?.[FIELD] ?? {}) as Partial<KeyUse>;
  if (typeof key !== 'string' || typeof request !== 'string' || typeof at !== 'number') return null;
  return isRegistered(webhook) ? { key, request, at, eventType: type, webhook } : null;
}

/** Others may write to the store. */
function isRegistered(webhook: Partial<RegisteredWebhook> | null | undefined): webhook is RegisteredWebhook {
  const { id, url, createdAt } = webhook ?? {};
  return Number.isSafeInteger(id) && typeof url === 'string' && typeof createdAt === 'string';
}
