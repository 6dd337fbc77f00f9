/** Reads the topics into the audit's tables, each in its own record format. */
import { entriesOfRequest, requestIn } from '../delivery/again/request.js';
import {
  buriedBatch,
  type DeadLetter,
  type DeadLetterReason,
  END_REASONS,
  readDeadLetter,
  unroutedPlace,
} from '../delivery/dead-letters.js';
import { type Delivery, deliveryIn, fromRetryRecord } from '../delivery/delivery.js';
import { statusIn } from '../delivery/log/delivery-log.js';
import { readLogRecord } from '../delivery/log/log-record.js';
import { readPaymentText } from '../delivery/record-place.js';
import { membersOf, overAt } from '../delivery/retry/bundle.js';
import type { Topics } from '../delivery/topics.js';
import { keyOfEvent } from '../payments/parsed-payment.js';
import { parsePaymentEvent } from '../payments/payment-event.js';
import { type Broker, isTime, NO_TIME, type ReceivedRecord, type UnreadableBatch } from '../ports/broker.js';
import type { EventStore } from '../ports/event-store.js';
import type { DeliveryLogEntry, RoutedEntry } from '../ports/log-entry.js';
import type { Scratch } from '../ports/scratch.js';
import type { TopicRecordsOptions } from '../ports/topic-records.js';
import * as queries from './queries.js';
import type { AuditTables } from './tables.js';

/**
 * Records published from `from` (inclusive) to `to` (exclusive), ms since the epoch, by the broker's timestamps. A record
 * whose timestamp is no time may be of any period, so it is of each.
 */
export interface Period {
  readonly from: number;
  readonly to: number;
  /** Null: all accounts. */
  readonly account: number | null;
}

export interface CompletenessParts {
  readonly broker: Pick<Broker, 'committed' | 'completedAhead' | 'extent' | 'listTopics'>;
  /** Every record that a topic has by now, as topicRecords reads it. */
  readonly records: (topic: string, options?: TopicRecordsOptions) => AsyncIterable<ReceivedRecord>;
  readonly store: Pick<EventStore, 'read'>;
  readonly topics: Topics;
  readonly groups: { readonly payments: string; readonly retries: string };
  /** Opened with the bytes that may be needed; the report reads it, and whoever opened it closes it. */
  readonly scratch: (bytes: number) => Scratch;
}

export interface Reading extends CompletenessParts {
  readonly period: Period;
  readonly tables: AuditTables;
  /** Of the audited store; null if it has none. */
  readonly identity: string | null;
  /** Of entries with its revisions. */
  readonly accounts: Set<number>;
  /** Topics that entries name and PAYMENT_TOPICS lacks, and whether one of the records is of the period. */
  readonly unlisted: Map<string, boolean>;
}

type Place = Pick<ReceivedRecord, 'topic' | 'partition' | 'offset' | 'timestamp'>;
type Row = Readonly<Record<'kind' | 'open' | 'account' | 'type' | 'event', string | number | null>>;

/** Of dead letters that end a delivery. */
const ENDS: ReadonlySet<DeadLetterReason | null> = new Set<DeadLetterReason>(END_REASONS);
/** A record that is not of the audit; it shows whether the topic is the one that entries name. */
const OTHER: Row = { kind: null, open: 0, account: null, type: null, event: null };

/** Those of an open transaction are counted if they are still held back: an unreadable batch has no time, so it counts. */
export async function readPayments(reading: Reading, topic: string): Promise<void> {
  const { tables } = reading;
  const keep = (place: Place, row: Row) =>
    tables.scratch.run(queries.RECORD, { part: tables.part(place), offset: place.offset, at: place.timestamp, ...row });
  const batchAt = ({ first: offset, ...batch }: UnreadableBatch) => ({ ...batch, offset, timestamp: NO_TIME });
  const onUnreadable = (batch: UnreadableBatch) =>
    keep(batchAt(batch), { ...OTHER, kind: 'batch', open: Number(tables.isOpen(batchAt(batch))), event: batch.digest });
  await each(reading, topic, (record) => keep(record, rowOf(reading, record)), { onUnreadable });
  const hold = (place: Place) => keep(place, { ...OTHER, kind: 'held' });
  const held = tables.scratch.rows<{ partition: number; stable: number; next: number }>(queries.HELD_BACK, { topic });
  const ranges = new Map([...held].map(({ partition, stable: from, next: to }) => [partition, { from, to }]));
  if (ranges.size === 0) return;
  const options = { ranges, uncommitted: true, onUnreadable: (batch: UnreadableBatch) => hold(batchAt(batch)) };
  for await (const record of reading.records(topic, options)) if (rowOf(reading, record).kind !== null) hold(record);
}

function rowOf({ tables, period }: Reading, record: ReceivedRecord): Row {
  const parsed = isWithin(period, record.timestamp) ? parsePaymentEvent(record) : null;
  if (!parsed || !isOf(period, accountOf(parsed, record))) return OTHER;
  const open = Number(tables.isOpen(record));
  if (!parsed.ok) return { ...OTHER, kind: 'invalid', open };
  const { id: eventId, accountId: account, type, cloudEvent } = parsed.event;
  const event = keyOfEvent({ eventId, eventSource: cloudEvent?.source ?? null });
  return { kind: 'payment', open, account, type, event };
}

export function readEntries(reading: Reading): Promise<void> {
  return each(reading, reading.topics.deliveries, (record) => {
    const { store, deliveries, routed } = readLogRecord(record);
    for (const entry of deliveries) logged(reading, entry, record);
    for (const entry of routed) routedBy(reading, entry, store, record.timestamp);
  });
}

function logged({ tables }: Reading, entry: DeliveryLogEntry, { timestamp }: ReceivedRecord): void {
  const { eventId, eventSource = null } = entry;
  const about = tables.about(entry);
  if (about) tables.says(about, keyOfEvent({ eventId, eventSource }), statusIn(entry, timestamp));
}

/** @param store whose revisions the entry names @param written when it was */
function routedBy(reading: Reading, entry: RoutedEntry, store: string, written: number): void {
  const { tables, topics, unlisted, period, accounts } = reading;
  const { accountId, routed, confirmed } = entry;
  const place = readPaymentText(entry.payment);
  if (!place) return;
  const { topic, offset, at } = place;
  // Nothing shows that a record without a time was of the period.
  const isDue = isTime(at) && isWithin(period, at) && isOf(period, accountId);
  if (!topics.payments.includes(topic)) return void unlisted.set(topic, isDue || unlisted.get(topic) === true);
  const named = { part: tables.part(place), offset };
  const found = tables.scratch.row<{ at: number; account: number | null }>(queries.FOUND, named);
  if (found?.at !== at) tables.scratch.run(queries.NAME, { ...named, written, at, due: Number(isDue) });
  else if (found.account === accountId) {
    const isOwn = store === reading.identity;
    if (isOwn) accounts.add(accountId);
    const webhooks = JSON.stringify([...new Set(entry.webhooks)]);
    tables.scratch.run(queries.ROUTED, { ...named, own: Number(isOwn), routed, confirmed, webhooks });
  }
}

/** A request is the first entry of its chain, and waits until a dispatcher is done with it. */
export function readRequests(reading: Reading): Promise<void> {
  return each(reading, reading.topics.requests, (record) => {
    const request = requestIn(record);
    for (const entry of entriesOfRequest(record, request)) logged(reading, entry, record);
    const isWaiting = request && !request.cancels && reading.tables.isOpen(record);
    if (isWaiting) waits(reading, request.delivery, 'requests', record.timestamp);
  });
}

export function readTier(reading: Reading, topic: string): Promise<void> {
  const tier = reading.topics.tierOf(topic)?.text ?? topic;
  return each(reading, topic, (record) => {
    const due = overAt(record);
    for (const [part, member] of (membersOf(record) ?? []).entries()) {
      const delivery = member && reading.tables.isOpen(record, part) ? fromRetryRecord(member) : null;
      if (delivery) waits(reading, delivery, tier, due);
    }
  });
}

function waits({ tables }: Reading, delivery: Delivery, tier: string, due: number): void {
  const about = tables.about(delivery);
  const { chain, attempts } = delivery;
  if (about) tables.scratch.run(queries.TIERED, { ...about, chain, attempts, tier, due });
}

export function readDeadLetters(reading: Reading): Promise<void> {
  const { tables, topics } = reading;
  return each(reading, topics.deadLetters, (record) => {
    const letter = readDeadLetter(record);
    const place = placeOfLetter(record, letter);
    if (place) {
      const named = { part: tables.part(place), offset: place.offset, at: place.at };
      const last = buriedBatch(letter)?.last ?? place.offset;
      tables.scratch.run(queries.BURIED, { ...named, last, digest: letter.digest });
      tables.scratch.run(queries.NAME, { ...named, offset: last, written: record.timestamp, at: null, due: 0 });
    }
    const delivery = ENDS.has(letter.reason) ? deliveryIn(record) : null;
    const about = delivery && tables.about(delivery);
    if (about) tables.scratch.run(queries.ENDED, { ...about, chain: delivery.chain, attempts: delivery.attempts });
  });
}

/** Of the payment record or batch that the letter has; its time null where the letter does not tell it. */
function placeOfLetter(record: ReceivedRecord, { reason, source }: DeadLetter) {
  const isWhole = reason === 'not-valid' || reason === 'unreadable-batch';
  const place = isWhole ? readPaymentText(`${source}@0`) : null;
  return place ? { ...place, at: null } : unroutedPlace(record);
}

async function each(
  { records, tables }: Reading,
  topic: string,
  read: (record: ReceivedRecord) => void,
  options?: TopicRecordsOptions,
): Promise<void> {
  for await (const record of records(topic, options)) {
    tables.saw(record);
    read(record);
  }
}

function isWithin({ from, to }: Period, at: number): boolean {
  return !isTime(at) || (at >= from && at < to);
}

function isOf({ account }: Period, accountId: number | null): boolean {
  return account === null || account === accountId;
}

/** The key is the only hint at the account of a record that is no payment event: payment systems use it so. */
function accountOf(parsed: ReturnType<typeof parsePaymentEvent>, { key }: ReceivedRecord): number | null {
  if (parsed.ok) return parsed.event.accountId;
  const text = key?.toString('utf8') ?? '';
  return /^[1-9]\d{0,15}$/.test(text) ? Number(text) : null;
}
