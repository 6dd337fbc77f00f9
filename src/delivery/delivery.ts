/**
 * A delivery: one payment event to one webhook, until a terminal state (next-step.ts has the states).
 *
 * Between attempts a delivery is a record in a tier: the payment's original value and headers, and its progress. Its key is
 * the delivery's id, so all of its records are in one partition (steps-once.ts).
 */
import { createHash } from 'node:crypto';
import { isSpanId, parseTraceContext, type TraceContext, traceparentOf } from '../observability/trace-context.js';
import { headerText, isTime, type NewRecord, type ReceivedRecord, type RecordHeader } from '../ports/broker.js';
import type { Webhook } from '../webhooks/state.js';
import { type DeliveryProgress, progressHeader, progressIn } from './delivery-progress.js';
import type { Trigger } from './log/log-record.js';
import type { CloudEvent, EventIdentity, PaymentEvent } from './payment/parsed-payment.js';
import { paymentText, placeOf } from './record-place.js';

export interface Delivery {
  /** The webhook-id, the same on every attempt. */
  readonly id: string;
  readonly accountId: number;
  readonly webhookId: number;
  /** The id of the event that added the webhook. */
  readonly webhookEvent: string;
  readonly eventId: string;
  readonly eventType: string;
  /** Null for a plain payment event. */
  readonly cloudEvent: CloudEvent | null;
  /** Of its attempts: 0 began with the payment; one of a request has the request's offset plus one. */
  readonly chain: number;
  /** That the chain has made so far. */
  readonly attempts: number;
  /** Index in the schedule: the delay before the attempt that follows the next failure. */
  readonly step: number;
  /** How often in a row the delivery was deferred: 0 after an attempt. */
  readonly deferrals: number;
  /** How many of these deferrals were due to the endpoint, which took nothing. */
  readonly refusals: number;
  /** What the next attempt is made for. */
  readonly trigger: Trigger;
  /** Who asked for it; null: nobody. */
  readonly actor: string | null;
  /** Of its chain's lifetime, ms: in a tier until its record is due, and in hand; not while it was due and nobody had taken it. */
  readonly usedMs: number;
  /** When the payment's record was published, ms since the epoch; null if unknown. */
  readonly publishedAt: number | null;
  /** The place of the payment's record (record-place.ts): two publications of one event are two deliveries. Null: unknown. */
  readonly payment: string | null;
  /** The trace of the attempts; null: none. */
  readonly trace: TraceContext | null;
  /** The span of the last attempt, if one was exported. */
  readonly lastSpan: string | null;
  readonly record: NewRecord;
}

/** In records of notices: when they are due. */
export const DUE = 'aw-due';
/** In records of notices: their id. */
export const NOTICE = 'aw-notice';

const NOT_BEGUN = { chain: 0, attempts: 0, step: 0, deferrals: 0, refusals: 0, usedMs: 0 };
const UNASKED = { trigger: 'event', actor: null } as const;

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
  const event = { accountId, webhookId, webhookEvent, eventId, eventType, cloudEvent: cloudEvent ?? null };
  return { id, ...event, ...NOT_BEGUN, ...UNASKED, publishedAt, payment, trace, lastSpan: null, record };
}

/** Derived, not random: after a redelivery or a crash midway, the same id is sent again. */
export function webhookMessageId(
  accountId: number,
  { eventId, eventSource }: EventIdentity,
  webhookId: number,
): string {
  // As JSON: in UTF-8 every half of a surrogate pair, which a JSON string may contain, would become the same U+FFFD.
  const text = JSON.stringify([accountId, webhookId, ...(eventSource === null ? [] : [eventSource]), eventId]);
  const hash = createHash('sha256').update(text).digest('base64url');
  return `msg_${hash.slice(0, 27)}`;
}

/** @param due ms since the epoch */
export function toRetryRecord(delivery: Delivery, due: number): NewRecord {
  return deliveryRecord(delivery, { due });
}

/** The payment with the delivery's progress, under the delivery's key. */
export function deliveryRecord(delivery: Delivery, more: Partial<DeliveryProgress>): NewRecord {
  const { id, record } = delivery;
  const key = record.key?.toString('base64');
  const headers = [...foreignHeaders(record), progressHeader({ ...progressOf(delivery), key, ...more })];
  return { key: Buffer.from(id), value: record.value, headers };
}

/** Null for a foreign record. */
export function fromRetryRecord(record: NewRecord, progress = progressIn(record)): Delivery | null {
  const delivery = deliveryIn(record, progress);
  // Only for a CloudEvent in binary mode is the value not the event itself.
  const hasEvent = record.value !== null || delivery?.cloudEvent?.mode === 'binary';
  return hasEvent ? delivery : null;
}

/** As its progress describes it, whether or not the record has the event; null if it has none. */
export function deliveryIn(record: NewRecord, progress = progressIn(record)): Delivery | null {
  if (!progress) return null;
  const { id, accountId, webhookId, webhookEvent, eventId, eventType, source, mode, step, lastSpan } = progress;
  const { key = null, traceparent } = progress;
  const trace = traceOf(record, traceparent) ?? traceOf(record);
  const own = record.key?.equals(Buffer.from(id)) ? null : record.key;
  const { chain = 0, attempts = 0, deferrals = 0, refusals = 0, usedMs = 0 } = progress;
  const { trigger = 'event', actor = null, publishedAt = null, payment = null } = progress;
  return {
    ...{ id, accountId, webhookId, webhookEvent, eventId, eventType },
    cloudEvent: source !== undefined && mode !== undefined ? { source, mode } : null,
    ...{ chain, attempts, step, deferrals, refusals, usedMs, trigger, actor, publishedAt, payment },
    trace,
    lastSpan: trace && lastSpan !== undefined && isSpanId(lastSpan) ? lastSpan : null,
    // A dead letter has the payment's key as its own.
    record: { key: key === null ? own : Buffer.from(key, 'base64'), value: record.value, headers: record.headers },
  };
}

/** What is 0 or null is left out. */
export function progressOf(delivery: Delivery): DeliveryProgress {
  const { id, accountId, webhookId, webhookEvent, eventId, eventType, cloudEvent, payment, trace } = delivery;
  return {
    ...{ id, accountId, webhookId, webhookEvent, eventId, eventType },
    ...(cloudEvent && { source: cloudEvent.source, mode: cloudEvent.mode }),
    payment: payment ?? undefined,
    publishedAt: delivery.publishedAt ?? undefined,
    chain: delivery.chain || undefined,
    attempts: delivery.attempts || undefined,
    step: delivery.step,
    deferrals: delivery.deferrals || undefined,
    refusals: delivery.refusals || undefined,
    usedMs: delivery.usedMs || undefined,
    trigger: delivery.trigger === 'event' ? undefined : delivery.trigger,
    actor: delivery.actor ?? undefined,
    traceparent: trace ? traceparentOf(trace) : undefined,
    lastSpan: delivery.lastSpan ?? undefined,
  };
}

/** Of a record, by default by its header; null if it has none or a malformed one. */
export function traceOf(record: NewRecord, traceparent = traceparentIn(record)): TraceContext | null {
  return traceparent === undefined ? null : parseTraceContext(traceparent, headerText(record, 'tracestate'));
}

function traceparentIn(record: NewRecord): string | undefined {
  return record.headers.length > 0 ? headerText(record, 'traceparent') : undefined;
}

/** ms since the epoch; 0 for a foreign record: bound for the dead letters, it must not hold up those behind it. */
export function dueOf(record: NewRecord): number {
  if (headerText(record, NOTICE) !== undefined) return whole(record, DUE) ?? 0;
  return progressIn(record)?.due ?? 0;
}

/** The headers that the payment system set. */
export function foreignHeaders(record: NewRecord): RecordHeader[] {
  return record.headers.filter(([name]) => !isOwnHeader(name));
}

function isOwnHeader(name: string): boolean {
  return name.startsWith('aw-');
}

export function text(name: string, value: string | number): RecordHeader {
  return [name, Buffer.from(String(value))];
}

/** 0 for a header that is missing or foreign. */
export function count(record: NewRecord, name: string): number {
  return Math.max(0, whole(record, name) ?? 0);
}

/** A header's whole number, or null. */
export function whole(record: NewRecord, name: string): number | null {
  const value = headerText(record, name);
  return value !== undefined && /^-?\d{1,16}$/.test(value) ? Number(value) : null;
}
