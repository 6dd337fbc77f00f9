/** What parsing a payment record comes to. */
import { isUtf8 } from 'node:buffer';
import type { EventType } from '../webhooks/limits.js';

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
  /** Of a CloudEvent only: its identity is source and id together. */
  readonly cloudEvent?: CloudEvent;
}

export interface Refused {
  readonly ok: false;
  /** Names what is wrong, and not the value. */
  readonly reason: string;
}

export type ParsedPayment = { readonly ok: true; readonly event: PaymentEvent } | Refused;

export function refused(reason: string): Refused {
  return { ok: false, reason };
}

export function readJson(value: Buffer | null): { readonly ok: true; readonly json: unknown } | Refused {
  if (value === null || value.length === 0) return refused('the record has no value');
  if (!isUtf8(value)) return refused('the record is not UTF-8');
  try {
    return { ok: true, json: JSON.parse(value.toString('utf8')) };
  } catch {
    return refused('the record is not JSON');
  }
}
