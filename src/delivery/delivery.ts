/**
 * A delivery: one payment event to one webhook, until a terminal state (next-step.ts has the states).
 *
 * Between attempts a delivery is a member of a bundle in a tier (retry/bundle.ts): the payment's original key, value and
 * headers, and its progress.
 */
import { parseTraceContext, type TraceContext } from '../observability/tracing.js';
import { type PaymentEvent, webhookMessageId } from '../payments/parsed-payment.js';
import { headerText, isTime, type NewRecord, type ReceivedRecord, type RecordHeader } from '../ports/broker.js';
import type { Webhook } from '../webhooks/state.js';
import { type DeliveryProgress, progressHeader, progressIn, type StoredProgress } from './delivery-progress.js';
import { paymentText, placeOf } from './record-place.js';

export interface Delivery extends DeliveryProgress {
  readonly record: NewRecord;
}

export function newDelivery(
  { id: eventId, type: eventType, accountId, cloudEvent }: PaymentEvent,
  { id: webhookId, addedBy: webhookEvent }: Pick<Webhook, 'id' | 'addedBy'>,
  record: NewRecord | ReceivedRecord,
  trace = traceOf(record),
): Delivery {
  const id = webhookMessageId(accountId, { eventId, eventSource: cloudEvent?.source ?? null }, webhookId);
  const received = 'timestamp' in record ? record : null;
  const payment = received && paymentText(placeOf(received));
  const publishedAt = received && isTime(received.timestamp) ? received.timestamp : null;
  // One literal: with spread parts it took a ninth of the way from record to entry, in a profile.
  return {
    id,
    isNotice: false,
    accountId,
    webhookId,
    webhookEvent,
    eventId,
    eventType,
    cloudEvent: cloudEvent ?? null,
    payment,
    publishedAt,
    chain: 0,
    attempts: 0,
    step: 0,
    deferrals: 0,
    deferredFrom: null,
    refused: 0,
    usedMs: 0,
    waitingFor: null,
    trigger: 'event',
    actor: null,
    trace,
    record,
  };
}

/** A member of a bundle. */
export function toMember(delivery: Delivery): NewRecord {
  const { key, value, headers } = delivery.record;
  return { key, value, headers: [...foreignHeaders({ headers }), progressHeader(progressOf(delivery))] };
}

/** The payment with the delivery's progress, under the delivery's key. */
export function deliveryRecord(delivery: Delivery, more: Partial<StoredProgress>): NewRecord {
  const { record } = delivery;
  const key = record.key?.toString('base64');
  const headers = [...foreignHeaders(record), progressHeader({ ...progressOf(delivery), key, ...more })];
  return { key: Buffer.from(delivery.id), value: record.value, headers };
}

/** Null for a foreign record. */
export function fromRetryRecord(record: NewRecord, stored = progressIn(record)): Delivery | null {
  // Only for a CloudEvent in binary mode is the value not the event itself.
  const hasEvent = record.value !== null || stored?.cloudEvent?.mode === 'binary';
  return hasEvent ? deliveryIn(record, stored) : null;
}

/** As its progress describes it, whether or not the record has the event; null if it has none. */
export function deliveryIn(record: NewRecord, stored = progressIn(record)): Delivery | null {
  if (!stored) return null;
  const { key, recovery: _, cancels: __, ...progress } = stored;
  // A member of a bundle, or a dead letter, has the payment's key as its own.
  const own = record.key?.equals(Buffer.from(progress.id)) ? null : record.key;
  const { value, headers } = record;
  return { ...progress, record: { key: key === undefined ? own : Buffer.from(key, 'base64'), value, headers } };
}

export function progressOf({ record: _, ...progress }: Delivery): DeliveryProgress {
  return progress;
}

/** Of a record, by its header; null if it has none or a malformed one. */
export function traceOf(record: NewRecord): TraceContext | null {
  if (record.headers.length === 0) return null;
  return parseTraceContext(headerText(record, 'traceparent'), headerText(record, 'tracestate'));
}

/** The headers that the payment system set. */
export function foreignHeaders(record: Pick<NewRecord, 'headers'>): RecordHeader[] {
  return record.headers.filter(([name]) => !name.startsWith('aw-'));
}

export function text(name: string, value: string | number): RecordHeader {
  return [name, Buffer.from(String(value))];
}

/** A header's whole number, or null. */
export function whole(record: NewRecord, name: string): number | null {
  const value = headerText(record, name);
  return value !== undefined && /^-?\d{1,16}$/.test(value) ? Number(value) : null;
}
