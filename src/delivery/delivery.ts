/**
 * A delivery: one payment event to one webhook, until a terminal state (next-step.ts has the states).
 *
 * Between attempts a delivery is a record in a tier: the payment's original value and headers, and its progress. Its key is
 * the delivery's id, so all of its records are in one partition (steps-once.ts).
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
    deferredMs: 0,
    refused: 0,
    usedMs: 0,
    waitingFor: null,
    trigger: 'event',
    actor: null,
    trace,
    record,
  };
}

/** @param due ms since the epoch @param moreMs what is left of its wait then: retry/waiting.ts */
export function toRetryRecord(delivery: Delivery, due: number, moreMs = 0): NewRecord {
  return deliveryRecord(delivery, { due, moreMs: moreMs === 0 ? undefined : moreMs });
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
  const { key, due: _, moreMs: __, recovery: ___, cancels: ____, ...progress } = stored;
  // A dead letter has the payment's key as its own.
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

/** ms since the epoch; 0 for a foreign record: bound for the dead letters, it must not hold up those behind it. */
export function dueOf(record: NewRecord): number {
  return progressIn(record)?.due ?? 0;
}

/** When its wait is over, in other tiers too (retry/waiting.ts), ms since the epoch. */
export function overAt(record: NewRecord): number {
  const { due = 0, moreMs = 0 } = progressIn(record) ?? {};
  return due + moreMs;
}

/** The headers that the payment system set. */
export function foreignHeaders(record: NewRecord): RecordHeader[] {
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
