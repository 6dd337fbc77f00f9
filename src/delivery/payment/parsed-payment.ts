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

/** U+FEFF in UTF-8. It is invisible, so the reason has to name it. */
const BYTE_ORDER_MARK = Buffer.of(0xef, 0xbb, 0xbf);

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

export function readJson(value: Buffer | null): { readonly ok: true; readonly json: unknown } | Refused {
  if (value === null || value.length === 0) return refused('the record has no value');
  if (!isUtf8(value)) return refused('the record is not UTF-8');
  try {
    return { ok: true, json: JSON.parse(value.toString('utf8')) };
  } catch {
    return refused(
      value.subarray(0, 3).equals(BYTE_ORDER_MARK)
        ? 'the record begins with a byte order mark'
        : 'the record is not JSON',
    );
  }
}
