/**
 * How far a delivery is: the header `aw-delivery` of retry records, requests and dead letters, as JSON. Only the service
 * writes and reads it. Beside it, those records have the payment's value and its foreign headers.
 */
import { Ajv } from 'ajv';
import type { TraceContext } from '../observability/tracing.js';
import type { CloudEvent } from '../payments/parsed-payment.js';
import { MAX_ID_BYTES, OWN_SCHEMAS } from '../payments/payment-event-schema.js';
import { headerText, type NewRecord, type RecordHeader } from '../ports/broker.js';
import { TRIGGERS, type Trigger, WAITING_FOR, type WaitingFor } from '../ports/delivery-order.js';

const HEADER = 'aw-delivery';

export interface DeliveryProgress {
  /** The webhook-id, the same on every attempt. */
  readonly id: string;
  /** A notice: a delivery that is not logged, and has no dead letter. */
  readonly isNotice: boolean;
  readonly accountId: number;
  readonly webhookId: number;
  /** The id of the event that added the webhook. */
  readonly webhookEvent: string;
  readonly eventId: string;
  readonly eventType: string;
  /** Null for a plain payment event. */
  readonly cloudEvent: CloudEvent | null;
  /** The place of the payment's record (record-place.ts): two publications of one event are two deliveries. Null: unknown. */
  readonly payment: string | null;
  /** When the payment's record was published, ms since the epoch; null if unknown. */
  readonly publishedAt: number | null;
  /** Of its attempts: 0 began with the payment; one of a request has the request's offset plus one. */
  readonly chain: number;
  /** That the chain has made so far. */
  readonly attempts: number;
  /** Index in the schedule: the delay before the attempt that follows the next failure. */
  readonly step: number;
  /** How often in a row the delivery was deferred: 0 after an attempt. */
  readonly deferrals: number;
  /** What it had used of its lifetime (`usedMs`) when its endpoint, which took nothing, first deferred it since its last attempt. */
  readonly deferredFrom: number | null;
  /** How long the last of them lasts, ms; 0: none. */
  readonly deferredMs: number;
  /** How many of its last attempts in a row the receiver refused on purpose (429, 503). */
  readonly refused: number;
  /** Why it waits, as the log says; null: the log has not said it. */
  readonly waitingFor: WaitingFor | null;
  /** Of its chain's lifetime, ms: in a tier until its record is due, and in hand; not while it was due and nobody had taken it. */
  readonly usedMs: number;
  /** What the next attempt is made for. */
  readonly trigger: Trigger;
  /** Who asked for it; null: nobody. */
  readonly actor: string | null;
  /** The trace of the attempts; null: none. */
  readonly trace: TraceContext | null;
}

/** What a record tells beside. */
export interface StoredProgress extends DeliveryProgress {
  /** The payment's key, in base64. */
  readonly key?: string | undefined;
  /** When the record is due, ms since the epoch. */
  readonly due?: number | undefined;
  /** What is left of its wait then, ms: retry/waiting.ts. */
  readonly moreMs?: number | undefined;
  /** Of a request: the recovery that made it. */
  readonly recovery?: string | undefined;
  /** Of a request to cancel: the places of all publications that it ends. */
  readonly cancels?: readonly string[] | undefined;
}

/** Of a delivery that was not deferred since its last attempt. */
export const NOT_DEFERRED = { deferrals: 0, deferredFrom: null, deferredMs: 0 };

export const NOT_BEGUN = {
  ...NOT_DEFERRED,
  isNotice: false,
  chain: 0,
  attempts: 0,
  step: 0,
  refused: 0,
  usedMs: 0,
  waitingFor: null,
  ...({ trigger: 'event', actor: null } as const),
};

const TEXT = { type: 'string' };
/** Of a payment: else a forged record would make an entry that the deliveries topic refuses. */
const ID = { ...TEXT, maxLength: MAX_ID_BYTES };
const TEXT_OR_NULL = { type: ['string', 'null'] };
const COUNT = { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER };
const WHOLE = { type: 'integer', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER };
const MS = { type: 'number' };
const orNull = (schema: object) => ({ anyOf: [schema, { type: 'null' }] });
const object = (properties: object) => ({ type: 'object', required: Object.keys(properties), properties });

const progress = object({
  id: TEXT,
  isNotice: { type: 'boolean' },
  accountId: WHOLE,
  webhookId: WHOLE,
  webhookEvent: TEXT,
  eventId: ID,
  eventType: TEXT,
  payment: TEXT_OR_NULL,
  publishedAt: orNull(WHOLE),
  cloudEvent: orNull(object({ source: ID, mode: { enum: ['structured', 'binary'] } })),
  chain: COUNT,
  attempts: COUNT,
  step: COUNT,
  deferrals: COUNT,
  usedMs: { ...MS, minimum: 0 },
  deferredFrom: orNull(MS),
  deferredMs: { ...MS, minimum: 0 },
  refused: COUNT,
  waitingFor: { enum: [...WAITING_FOR, null] },
  trigger: { enum: TRIGGERS },
  actor: TEXT_OR_NULL,
  trace: orNull(object({ traceId: TEXT, spanId: TEXT, flags: COUNT, state: TEXT_OR_NULL })),
});

const isProgress = new Ajv({ ...OWN_SCHEMAS, allowUnionTypes: true }).compile<StoredProgress>({
  ...progress,
  properties: {
    ...progress.properties,
    key: TEXT,
    due: MS,
    moreMs: MS,
    recovery: TEXT,
    cancels: { type: 'array', items: TEXT },
  },
});

export function progressHeader(stored: StoredProgress): RecordHeader {
  return [HEADER, Buffer.from(JSON.stringify(stored))];
}

/** Null for a foreign record. */
export function progressIn(record: Pick<NewRecord, 'headers'>): StoredProgress | null {
  const given = headerText(record, HEADER);
  if (given === undefined) return null;
  try {
    const stored: unknown = JSON.parse(given);
    return isProgress(stored) ? stored : null;
  } catch {
    return null;
  }
}
