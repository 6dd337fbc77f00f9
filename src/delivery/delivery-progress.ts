/**
 * How far a delivery is: the header `aw-delivery` of retry records, requests and dead letters, as JSON. Only the service
 * writes and reads it. Beside it, those records have the payment's value and its foreign headers.
 */
import { Ajv } from 'ajv';
import { headerText, type NewRecord, type RecordHeader } from '../ports/broker.js';
import { TRIGGERS } from '../ports/delivery-order.js';
import type { Trigger } from './log/log-record.js';
import { MAX_ID_BYTES, OWN_SCHEMAS } from './payment/payment-event-schema.js';

const HEADER = 'aw-delivery';

/** Absent: none, or 0. */
export interface DeliveryProgress {
  readonly id: string;
  readonly accountId: number;
  readonly webhookId: number;
  readonly webhookEvent: string;
  readonly eventId: string;
  readonly eventType: string;
  /** Of a CloudEvent. */
  readonly source?: string | undefined;
  readonly mode?: 'structured' | 'binary' | undefined;
  /** The payment's place (record-place.ts). */
  readonly payment?: string | undefined;
  /** When the payment's record was published, ms since the epoch. */
  readonly publishedAt?: number | undefined;
  /** The payment's key, in base64. */
  readonly key?: string | undefined;
  /** Of a request: absent, its offset has the number. */
  readonly chain?: number | undefined;
  readonly attempts?: number | undefined;
  readonly step: number;
  readonly deferrals?: number | undefined;
  readonly refusals?: number | undefined;
  readonly usedMs?: number | undefined;
  /** When the record is due, ms since the epoch. */
  readonly due?: number | undefined;
  readonly trigger?: Trigger | undefined;
  readonly actor?: string | undefined;
  readonly traceparent?: string | undefined;
  readonly lastSpan?: string | undefined;
  /** Of a request: the recovery that made it. */
  readonly recovery?: string | undefined;
  /** Of a request to cancel: the places of all publications that it ends. */
  readonly cancels?: readonly string[] | undefined;
}

const TEXT = { type: 'string' };
/** Of a payment: else a forged record would make an entry that the deliveries topic refuses. */
const ID = { ...TEXT, maxLength: MAX_ID_BYTES };
const COUNT = { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER };
const WHOLE = { type: 'integer', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER };

const MS = { type: 'number' };

const isProgress = new Ajv(OWN_SCHEMAS).compile<DeliveryProgress>({
  type: 'object',
  required: ['id', 'accountId', 'webhookId', 'webhookEvent', 'eventId', 'eventType', 'step'],
  dependencies: { source: ['mode'], mode: ['source'] },
  properties: {
    ...{ id: TEXT, accountId: WHOLE, webhookId: WHOLE, webhookEvent: TEXT, eventId: ID, eventType: TEXT },
    ...{ source: ID, mode: { enum: ['structured', 'binary'] }, payment: TEXT, publishedAt: WHOLE, key: TEXT },
    ...{ chain: COUNT, attempts: COUNT, step: COUNT, deferrals: COUNT, refusals: COUNT, usedMs: MS, due: MS },
    ...{ trigger: { enum: TRIGGERS }, actor: TEXT, traceparent: TEXT, lastSpan: TEXT, recovery: TEXT },
    cancels: { type: 'array', items: TEXT },
  },
});

export function progressHeader(progress: DeliveryProgress): RecordHeader {
  return [HEADER, Buffer.from(JSON.stringify(progress))];
}

/** Null for a foreign record. */
export function progressIn(record: Pick<NewRecord, 'headers'>): DeliveryProgress | null {
  const given = headerText(record, HEADER);
  if (given === undefined) return null;
  try {
    const progress: unknown = JSON.parse(given);
    return isProgress(progress) ? progress : null;
  } catch {
    return null;
  }
}
