/** Dead letters: records without further attempts, kept as received up to 512 KiB, with the reason in headers. */
import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { CountedReason } from '../observability/metrics.js';
import type { PaymentEvent } from '../payments/parsed-payment.js';
import { headersProblem, MAX_RECORD_BYTES, recordBytes } from '../payments/payment-event.js';
import type { NewRecord, ReceivedRecord, RecordHeader, UnreadableBatch } from '../ports/broker.js';
import { headerText, isTime } from '../ports/broker.js';
import { type Delivery, foreignHeaders, progressOf, text, whole } from './delivery.js';
import { type DeliveryProgress, progressHeader, progressIn } from './delivery-progress.js';
import { paymentText, placeOf, type RecordOffset, readPaymentText, sourceText } from './record-place.js';

/**
 * Reasons of letters that end a delivery. exhausted: after the schedule's last delay, or the delivery's lifetime. deactivated: by
 * the service. other-history: the store was replaced, where the webhook's id belongs to another webhook or to none; nothing was
 * sent. account-unreadable: an event of the account can't be read; nothing was sent. Payment records have this reason too.
 */
const ENDS = ['exhausted', 'deactivated', 'other-history', 'account-unreadable'] as const;
export const END_REASONS: readonly CountedReason[] = ENDS;
export type EndReason = (typeof ENDS)[number];

/** not-valid: not a payment event, or not a retry record. unreadable-batch: the letter has its place, and no bytes. */
export type DeadLetterReason = CountedReason;

/** What a letter has of an unreadable batch. */
export type BuriedBatch = Pick<UnreadableBatch, 'topic' | 'partition' | 'first' | 'last'> & Pick<DeadLetter, 'after'>;

const DIGEST = 'aw-digest';
/** Of a record that is too large to be kept: key, headers and value together. */
const BYTES = 'aw-bytes';
/** Of a payment record that was not routed: its place, with its time. */
const PAYMENT = 'aw-payment';
const ADDED = new Set(['aw-source', 'aw-reason', 'aw-detail', DIGEST, BYTES]);
const NOTHING = { key: null, value: null, headers: [] };

export type DeadLetter = ReturnType<typeof readDeadLetter>;

/** Headers beyond their limits stay behind: encoding them would take too long. */
export function notValid(record: ReceivedRecord, detail: string): NewRecord {
  const bytes = recordBytes(record);
  const { value, headers } = record;
  if (bytes > MAX_RECORD_BYTES) {
    const digest = createHash('sha256')
      .update(value ?? '')
      .digest('hex');
    return deadLetter(NOTHING, 'not-valid', detail, [text(BYTES, bytes), text(DIGEST, digest), source(record)]);
  }
  // Our own ones too: in a broken retry record the problem is in them.
  const asItCame = headersProblem(headers) === null ? headers.filter(([name]) => !ADDED.has(name)) : [];
  return deadLetter(record, 'not-valid', detail, [...asItCame, source(record)]);
}

/** The letter of a payment record whose account is unreadable. */
export function unrouted(record: ReceivedRecord, { id, accountId }: PaymentEvent, detail: string): NewRecord {
  const kept = [
    ...foreignHeaders(record),
    text('aw-account-id', accountId),
    text('aw-event-id', id),
    text(PAYMENT, paymentText(placeOf(record))),
    source(record),
  ];
  return deadLetter(record, 'account-unreadable', detail, kept);
}

/** The original place of the record in a letter of `unrouted`; null for every other letter. */
export function unroutedPlace(letter: NewRecord): RecordOffset | null {
  return headerText(letter, 'aw-reason') === 'account-unreadable' ? readPaymentText(headerText(letter, PAYMENT)) : null;
}

/** The letter of an ended delivery. @param why `detail` is for human readers */
export function deadLetterOf(delivery: Delivery, why: { reason: EndReason; detail: string }): NewRecord {
  const { record } = delivery;
  return deadLetter(record, why.reason, why.detail, [...foreignHeaders(record), progressHeader(progressOf(delivery))]);
}

/** @param after the time of the record before the batch; null if unknown */
export function unreadableBatch(batch: UnreadableBatch, after: number | null): NewRecord {
  const { topic, partition, first, last, codec, reason, digest } = batch;
  const place = [
    source({ topic, partition, offset: first }),
    text('aw-last-offset', last),
    text('aw-codec', codec),
    text(DIGEST, digest),
    ...(after === null ? [] : [text('aw-after', after)]),
  ];
  return deadLetter(NOTHING, 'unreadable-batch', reason, place);
}

/** The offsets that a letter of `unreadableBatch` names; null for a foreign one. */
export function buriedBatch({ source, lastOffset, after }: DeadLetter): BuriedBatch | null {
  const [, topic, partition, first] = /^(.*)\/(\d+)\/(\d+)$/s.exec(source ?? '') ?? [];
  if (topic === undefined || lastOffset === null || lastOffset < Number(first)) return null;
  return { topic, partition: Number(partition), first: Number(first), last: lastOffset, after };
}

function deadLetter(record: NewRecord, reason: DeadLetterReason, detail: string, kept: RecordHeader[]): NewRecord {
  const headers = [...kept, text('aw-reason', reason), text('aw-detail', detail)];
  return { key: record.key, value: record.value, headers };
}

export function readDeadLetter(record: ReceivedRecord) {
  const given = (name: string) => headerText(record, name) ?? null;
  const { partition, offset, key, value } = record;
  const isText = value !== null && isUtf8(value);
  const ended: Partial<DeliveryProgress> = progressIn(record) ?? {};
  return {
    /** ISO 8601, UTC, ms; null: it has no valid timestamp. */
    at: isTime(record.timestamp) ? new Date(record.timestamp).toISOString() : null,
    reason: given('aw-reason') as DeadLetterReason | null,
    detail: given('aw-detail'),
    /** The record's original place, topic/partition/offset; for a batch, the place of its first record. */
    source: given('aw-source'),
    /** This and `codec`, `after`: of an unreadable batch, as far as known. */
    lastOffset: whole(record, 'aw-last-offset'),
    codec: given('aw-codec'),
    /** The time of the record before the batch, ms since the epoch: a recreated topic has another. Null: unknown. */
    after: whole(record, 'aw-after'),
    /** Of an unreadable batch's bytes, or of the value of a record that is too large to be kept. */
    digest: given(DIGEST),
    /** The size of a record that is too large to be kept. */
    bytes: whole(record, BYTES),
    accountId: ended.accountId ?? whole(record, 'aw-account-id'),
    eventId: ended.eventId ?? given('aw-event-id'),
    eventSource: ended.cloudEvent?.source,
    /** From here to the attempts null if the letter is of no delivery. */
    webhookId: ended.webhookId ?? null,
    webhookEvent: ended.webhookEvent ?? null,
    deliveryId: ended.id ?? null,
    chain: ended.chain ?? null,
    attempts: ended.attempts ?? null,
    /** The letter's own place in the dead letter topic. */
    partition,
    offset,
    key: key?.toString('utf8') ?? null,
    /** As text; bytes other than UTF-8 are in valueBase64 as base64. */
    value: isText ? value.toString('utf8') : null,
    valueBase64: isText ? null : (value?.toString('base64') ?? null),
  };
}

const source = (place: Parameters<typeof sourceText>[0]) => text('aw-source', sourceText(place));
