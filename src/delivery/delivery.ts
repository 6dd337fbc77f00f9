/**
 * A delivery: one payment event to one webhook, until a terminal state (next-step.ts has the states).
 *
 * Between attempts a delivery is a record in a tier: the payment's original value and headers, plus headers of ours. Its
 * key is the delivery's id, so all of its records are in one partition (steps-once.ts); a header has the payment's key.
 */
import { createHash } from 'node:crypto';
import { isSpanId, parseTraceContext, type TraceContext, traceparentOf } from '../observability/trace-context.js';
import { headerText, isTime, type NewRecord, type ReceivedRecord, type RecordHeader } from '../ports/broker.js';
import { TRIGGERS } from '../ports/delivery-order.js';
import type { Webhook } from '../webhooks/state.js';
import type { Trigger } from './log/log-record.js';
import { eventHeaders } from './payment/cloud-event-attributes.js';
import {
  type CloudEvent,
  type EventIdentity,
  eventOfKey,
  keyOfEvent,
  type PaymentEvent,
} from './payment/parsed-payment.js';
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
  readonly attempts: number;
  /** Attempts and replays so far: orders the log's entries about the delivery (ports/delivery-order.ts). */
  readonly turn: number;
  /** Index in the schedule: the delay before the attempt that follows the next failure. */
  readonly step: number;
  /** How often in a row the delivery was parked: 0 after an attempt. */
  readonly parkings: number;
  /** How many of these parkings were due to the endpoint, which took nothing. */
  readonly refusals: number;
  /** What the next attempt is made for. */
  readonly trigger: Trigger;
  /** Who asked for it; null: nobody. */
  readonly actor: string | null;
  /** The id of the recovery that put the delivery back last. */
  readonly recovery: string | null;
  /** Of its lifetime, ms: in a tier until its record is due, and in hand; not while it was due and nobody had taken it. */
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

export const DUE = 'aw-due';
/** In records of notices: their id. */
export const NOTICE = 'aw-notice';
/** The place of the payment's record (record-place.ts). */
export const PAYMENT = 'aw-payment';
/** In dead letters without their event: its size. */
export const BYTES = 'aw-bytes';
/** The event's full identity, if aw-event-id does not hold all of it. */
const EVENT_KEY = 'aw-event-key';

const NOT_BEGUN = { attempts: 0, turn: 0, step: 0, parkings: 0, refusals: 0, usedMs: 0 };
const UNASKED = { trigger: 'event', actor: null, recovery: null } as const;

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

/** Without the key and headers, which may exceed the topic's limit. Those of an event in binary mode belong to the event. */
export function withoutExtras(delivery: Delivery): Delivery {
  const { cloudEvent, record } = delivery;
  const headers = cloudEvent?.mode === 'binary' ? eventHeaders(record) : [];
  return { ...delivery, record: { key: null, value: record.value, headers } };
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
  const { record, parkings } = delivery;
  const headers = [...foreignHeaders(record), ...ownHeaders(delivery), text('aw-parkings', parkings), text(DUE, due)];
  if (record.key !== null) headers.push(['aw-key', record.key]);
  if (delivery.refusals > 0) headers.push(text('aw-refusals', delivery.refusals));
  // Dead letters omit these: a replay weeks later is an attempt of its own, starts with the full lifetime, and must not
  // count as delivery latency.
  if (delivery.trigger !== 'event') headers.push(text('aw-trigger', delivery.trigger));
  if (delivery.actor !== null) headers.push(text('aw-actor', delivery.actor));
  if (delivery.recovery !== null) headers.push(text('aw-recovery', delivery.recovery));
  if (delivery.publishedAt !== null) headers.push(text('aw-published', delivery.publishedAt));
  if (delivery.usedMs > 0) headers.push(text('aw-used', delivery.usedMs));
  if (delivery.trace) headers.push(text('aw-traceparent', traceparentOf(delivery.trace)));
  if (delivery.lastSpan !== null) headers.push(text('aw-last-span', delivery.lastSpan));
  return { key: Buffer.from(delivery.id), value: record.value, headers };
}

/** Null for a foreign record, and for a dead letter without its event. */
export function fromRetryRecord(record: NewRecord): Delivery | null {
  const delivery = deliveryIn(record);
  // Only for a CloudEvent in binary mode is the value not the event itself.
  const hasEvent = record.value !== null || delivery?.cloudEvent?.mode === 'binary';
  return hasEvent && headerText(record, BYTES) === undefined ? delivery : null;
}

/** As its headers describe it, whether or not the record has the event; null if they describe none. */
export function deliveryIn(record: NewRecord): Delivery | null {
  const id = headerText(record, 'aw-delivery-id');
  const eventId = headerText(record, 'aw-event-id');
  const eventType = headerText(record, 'aw-event-type');
  const webhookEvent = headerText(record, 'aw-webhook-event');
  const accountId = whole(record, 'aw-account-id');
  const webhookId = whole(record, 'aw-webhook-id');
  const attempts = whole(record, 'aw-attempts');
  const step = whole(record, 'aw-step');
  if (id === undefined || eventId === undefined || eventType === undefined || webhookEvent === undefined) return null;
  if (accountId === null || webhookId === null || attempts === null || step === null) return null;
  const event = eventOf(record, eventId);
  if (event === null) return null;
  const trigger = headerText(record, 'aw-trigger');
  const trace = traceOf(record, 'aw-traceparent') ?? traceOf(record);
  const span = headerText(record, 'aw-last-span');
  return {
    ...{ id, accountId, webhookId, webhookEvent, ...event, eventType, attempts, step },
    // Only replayed deliveries have this header. Dead letters lack most of those below.
    turn: Math.max(attempts, whole(record, 'aw-turn') ?? 0),
    parkings: count(record, 'aw-parkings'),
    refusals: count(record, 'aw-refusals'),
    trigger: TRIGGERS.find((one) => one === trigger) ?? 'event',
    actor: headerText(record, 'aw-actor') ?? null,
    recovery: headerText(record, 'aw-recovery') ?? null,
    usedMs: count(record, 'aw-used'),
    publishedAt: whole(record, 'aw-published'),
    payment: headerText(record, PAYMENT) ?? null,
    trace,
    lastSpan: trace && span !== undefined && isSpanId(span) ? span : null,
    record: { key: keyOf(record, id), value: record.value, headers: record.headers },
  };
}

/** The payment's. A dead letter has it as its own. */
function keyOf({ key, headers }: NewRecord, deliveryId: string): Buffer | null {
  const kept = headers.findLast(([name]) => name === 'aw-key')?.[1];
  return kept ?? (key?.equals(Buffer.from(deliveryId)) ? null : key);
}

/** Null where the headers contradict each other. */
function eventOf(record: NewRecord, eventId: string): Pick<Delivery, 'eventId' | 'cloudEvent'> | null {
  const mode = headerText(record, 'aw-content-mode');
  const key = headerText(record, EVENT_KEY);
  const identity = key === undefined ? { eventId, eventSource: null } : eventOfKey(key);
  if (identity === null) return null;
  const { eventSource: source } = identity;
  if (source === null) return mode === undefined ? { eventId: identity.eventId, cloudEvent: null } : null;
  if (mode !== 'structured' && mode !== 'binary') return null;
  return { eventId: identity.eventId, cloudEvent: { source, mode } };
}

/** As few as possible: aw-event-id alone identifies a plain event whose id is well-formed Unicode. */
function eventHeadersOf({ eventId, cloudEvent }: Delivery): RecordHeader[] {
  const key = text(EVENT_KEY, keyOfEvent({ eventId, eventSource: cloudEvent?.source ?? null }));
  if (cloudEvent) return [key, text('aw-content-mode', cloudEvent.mode)];
  return Buffer.from(eventId).toString('utf8') === eventId ? [] : [key];
}

/** The trace context of a record; null if the record has none or a malformed one. */
export function traceOf(record: NewRecord, name = 'traceparent'): TraceContext | null {
  const traceparent = record.headers.length > 0 ? headerText(record, name) : undefined;
  return traceparent === undefined ? null : parseTraceContext(traceparent, headerText(record, 'tracestate'));
}

/** ms since the epoch; 0 for a foreign record: bound for the dead letters, it must not hold up those behind it. */
export function dueOf(record: NewRecord): number {
  return fromRetryRecord(record) || headerText(record, NOTICE) !== undefined ? (whole(record, DUE) ?? 0) : 0;
}

/** The headers that describe a dead letter's delivery. */
export function ownHeaders(delivery: Delivery): RecordHeader[] {
  return [
    text('aw-delivery-id', delivery.id),
    text('aw-event-id', delivery.eventId),
    text('aw-event-type', delivery.eventType),
    text('aw-account-id', delivery.accountId),
    text('aw-webhook-id', delivery.webhookId),
    text('aw-webhook-event', delivery.webhookEvent),
    text('aw-attempts', delivery.attempts),
    text('aw-step', delivery.step),
    ...eventHeadersOf(delivery),
    ...(delivery.turn === delivery.attempts ? [] : [text('aw-turn', delivery.turn)]),
    ...(delivery.payment === null ? [] : [text(PAYMENT, delivery.payment)]),
  ];
}

/** The headers that the payment system set. */
export function foreignHeaders(record: NewRecord): RecordHeader[] {
  return record.headers.filter(([name]) => !isOwnHeader(name));
}

export function isOwnHeader(name: string): boolean {
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
