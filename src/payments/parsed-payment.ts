/** The result of parsing a payment record, and the identity of its event. */

import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import type { EventType } from '../webhooks/limits.js';

export interface CloudEvent {
  readonly source: string;
  /** structured: attributes and data in the value. binary: attributes in ce_ headers, data in the value. */
  readonly mode: 'structured' | 'binary';
}

export interface PaymentEvent {
  readonly id: string;
  readonly type: EventType;
  readonly accountId: number;
  /** For CloudEvents only: their identity is source and id together. */
  readonly cloudEvent?: CloudEvent;
}

export interface Refused {
  readonly ok: false;
  /** Names the problem without the value. */
  readonly reason: string;
  /** The wrong field of the event: type, data.accountId, ce_id. Absent if the event as a whole is wrong. */
  readonly field?: string;
}

/** `json`: the event as parsed; of binary mode its `data` alone, if that is JSON. */
export type ParsedPayment = { readonly ok: true; readonly event: PaymentEvent; readonly json: object } | Refused;

export function refused(reason: string, field?: string): Refused {
  return { ok: false, reason, ...(field && { field }) };
}

/** A field of null counts as absent (CloudEvents, JSON format, 2.2). */
export function withoutNulls(json: unknown): unknown {
  if (!isObject(json) || !Object.values(json).includes(null)) return json;
  return Object.fromEntries(Object.entries(json).filter(([, value]) => value !== null));
}

export function isObject(json: unknown): json is object {
  return typeof json === 'object' && json !== null && !Array.isArray(json);
}

/** An object is without its fields of null. */
export type ReadJson = { readonly ok: true; readonly json: unknown } | Refused;

export function readJson(value: Buffer | null): ReadJson {
  if (value === null || value.length === 0) return refused('the record has no value');
  if (!isUtf8(value)) return refused('the record is not UTF-8');
  const text = value.toString('utf8');
  try {
    return { ok: true, json: withoutNulls(JSON.parse(text)) };
  } catch {
    // A byte order mark is invisible, so the reason has to name it.
    return refused(text.startsWith('\ufeff') ? 'the record begins with a byte order mark' : 'the record is not JSON');
  }
}

/**
 * Identifies a payment event within its account: by id, or for a CloudEvent by source and id together. The key is JSON,
 * a string or a pair: this keeps halves of surrogate pairs distinct and never confuses the two kinds.
 */
export interface EventIdentity {
  readonly eventId: string;
  /** Null for an event other than a CloudEvent. */
  readonly eventSource: string | null;
}

/** Derived, not random: after a redelivery or a crash midway, the same id is sent again. */
export function webhookMessageId(
  accountId: number,
  { eventId, eventSource }: EventIdentity,
  webhookId: number,
): string {
  // As JSON: in UTF-8 every half of a surrogate pair, which a JSON string may contain, would become the same U+FFFD.
  const text = JSON.stringify([accountId, webhookId, ...(eventSource === null ? [] : [eventSource]), eventId]);
  return `msg_${hash('sha256', text, 'base64url').slice(0, 27)}`;
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
