/** The result of parsing a payment record. */
import { isUtf8 } from 'node:buffer';
import type { EventType } from '../../webhooks/limits.js';

/** structured: attributes and data in the value. binary: attributes in ce_ headers, data in the value. */
export type ContentMode = 'structured' | 'binary';

export interface CloudEvent {
  readonly source: string;
  readonly mode: ContentMode;
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

export type ParsedPayment = { readonly ok: true; readonly event: PaymentEvent } | Refused;

export function refused(reason: string, field?: string): Refused {
  return { ok: false, reason, ...(field && { field }) };
}

/** In JSON, null says nothing (CloudEvents, JSON format, 2.2): a field of null counts as absent. */
export function withoutNulls(json: unknown): unknown {
  if (!isObject(json) || !Object.values(json).includes(null)) return json;
  return Object.fromEntries(Object.entries(json).filter(([, value]) => value !== null));
}

export function isObject(json: unknown): json is object {
  return typeof json === 'object' && json !== null && !Array.isArray(json);
}

/** An object is without its fields of null. */
export function readJson(value: Buffer | null): { readonly ok: true; readonly json: unknown } | Refused {
  if (value === null || value.length === 0) return refused('the record has no value');
  if (!isUtf8(value)) return refused('the record is not UTF-8');
  const text = value.toString('utf8');
  try {
    return { ok: true, json: withoutNulls(JSON.parse(text)) };
  } catch {
    return refused(
      // It is invisible, so the reason has to name it.
      text.startsWith('\ufeff') ? 'the record begins with a byte order mark' : 'the record is not JSON',
    );
  }
}
