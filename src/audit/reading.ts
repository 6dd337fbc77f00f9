/** Reads the topics into the ledger, each in its own record format. */

import { entriesOfRequest, requestIn } from '../delivery/again/request.js';
import { type DeadLetterReason, END_REASONS, readDeadLetter, unroutedPlace } from '../delivery/dead-letters.js';
import { deliveryIn, fromRetryRecord, overAt } from '../delivery/delivery.js';
import { statusIn } from '../delivery/log/delivery-log.js';
import { type DeliveryLogEntry, type RoutedEntry, readLogRecord } from '../delivery/log/log-record.js';
import { keyOfEvent } from '../delivery/payment/parsed-payment.js';
import { parsePaymentEvent } from '../delivery/payment/payment-event.js';
import { placeOf, readPaymentText } from '../delivery/record-place.js';
import type { Topics } from '../delivery/topics.js';
import {
  type Broker,
  isTime,
  type PartitionStart,
  type ReceivedRecord,
  type UnreadableBatch,
} from '../ports/broker.js';
import type { EventStore } from '../ports/event-store.js';
import type { TopicRecordsOptions } from '../ports/topic-records.js';
import type { Histories } from './active-webhooks.js';
import type { AuditedPayment } from './audited-payment.js';
import type { Ledger } from './ledger.js';
import type { ConsumedTopic, ReadTopic } from './read-topic.js';
import type { Starts } from './starts.js';

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
  readonly broker: Pick<Broker, 'committed' | 'extent' | 'listTopics'>;
  /** Every record that a topic has by now, as topicRecords reads it. */
  readonly records: (topic: string, options?: TopicRecordsOptions) => AsyncIterable<ReceivedRecord>;
  readonly store: Pick<EventStore, 'read'>;
  readonly topics: Topics;
  readonly groups: { readonly payments: string; readonly retries: string };
  readonly progress: (topic: string) => void;
}

/** The groups' committed offsets when the audit began. */
export class Committed {
  readonly #topics = new Map<string, ReadonlyMap<number, number>>();

  /** @throws BrokerUnavailable */
  static async of({ broker, topics, groups }: CompletenessParts): Promise<Committed> {
    const committed = new Committed();
    const read = async (group: string, topic: string) =>
      committed.#topics.set(topic, await broker.committed(group, topic));
    const tiers = (await broker.listTopics()).filter((topic) => topics.isTier(topic));
    for (const topic of new Set(topics.payments)) await read(groups.payments, topic);
    for (const topic of [...tiers, topics.requests]) await read(groups.retries, topic);
    return committed;
  }

  of(topic: string): ReadonlyMap<number, number> {
    return this.#topics.get(topic) ?? new Map();
  }

  /** Whether the group was not done with this record. In a topic created later it was done with nothing. */
  isOpen({ topic, partition, offset }: Pick<ReceivedRecord, 'topic' | 'partition' | 'offset'>): boolean {
    return offset >= (this.#topics.get(topic)?.get(partition) ?? 0);
  }
}

export interface Reading extends CompletenessParts {
  readonly period: Period;
  readonly committed: Committed;
  readonly histories: Histories;
  readonly ledger: Ledger;
  readonly starts: Starts;
  readonly payments: ReadonlyMap<string, ConsumedTopic>;
  readonly requests: ConsumedTopic;
  /** Topics that entries name and PAYMENT_TOPICS lacks, and whether one of the records is of the period. */
  readonly unlisted: Map<string, boolean>;
}

/** Of dead letters that end a delivery. */
const ENDS: ReadonlySet<DeadLetterReason> = new Set<DeadLetterReason>(END_REASONS);

export async function readPayments(reading: Reading, topic: ConsumedTopic): Promise<void> {
  const { ledger, committed, period } = reading;
  const read = (record: ReceivedRecord) => {
    const place = placeOf(record);
    if (!isWithin(period, place.at)) return;
    const isOpen = committed.isOpen(place);
    const parsed = parsePaymentEvent(record);
    if (!isOf(period, accountOf(parsed, record))) return;
    if (!parsed.ok) return ledger.invalid({ ...place, isOpen });
    const { id: eventId, accountId, type: eventType, cloudEvent } = parsed.event;
    const key = keyOfEvent({ eventId, eventSource: cloudEvent?.source ?? null });
    ledger.payment(place, { accountId, eventType, key, at: place.at, isOpen });
  };
  const onUnreadable = (batch: UnreadableBatch) =>
    ledger.unreadable(batch, committed.isOpen({ ...batch, offset: batch.first }));
  await each(reading, topic, read, { onUnreadable });
  if (topic.heldBack.size > 0) await readHeldBack(reading, topic);
}

/** Counts the records of the period that are still held back. An unreadable batch has no time, so it counts. */
async function readHeldBack({ records, ledger, period }: Reading, topic: ConsumedTopic): Promise<void> {
  const onUnreadable = (batch: UnreadableBatch) => ledger.heldBack({ ...batch, offset: batch.first });
  const options = { ranges: topic.heldBack, uncommitted: true, onUnreadable };
  for await (const record of records(topic.name, options)) {
    if (!isWithin(period, record.timestamp)) continue;
    if (isOf(period, accountOf(parsePaymentEvent(record), record))) ledger.heldBack(record);
  }
}

export function readEntries(reading: Reading, topic: ReadTopic): Promise<void> {
  return each(reading, topic, async (record) => {
    const { store, deliveries, routed, starts } = readLogRecord(record);
    for (const entry of deliveries) logged(reading, entry, record);
    for (const start of starts) started(reading, start);
    for (const entry of routed) await routedBy(reading, entry, store);
  });
}

function logged({ ledger }: Reading, entry: DeliveryLogEntry, { timestamp }: ReceivedRecord): void {
  const { accountId, eventId, eventSource = null, webhookId, payment } = entry;
  const audited = find(ledger, payment, accountId);
  if (audited?.key === keyOfEvent({ eventId, eventSource })) audited.says(webhookId, statusIn(entry, timestamp));
}

function started({ starts, payments, unlisted }: Reading, start: PartitionStart): void {
  starts.started(start);
  if (!payments.has(start.topic)) unlisted.set(start.topic, unlisted.get(start.topic) ?? false);
}

/** @param store whose revisions the entry names */
async function routedBy(
  { ledger, starts, payments, unlisted, histories, period }: Reading,
  { payment, accountId, ...routing }: RoutedEntry,
  store: string,
): Promise<void> {
  const place = readPaymentText(payment);
  if (!place) return;
  const { topic, at } = place;
  const read = payments.get(topic);
  const isDue = isWithin(period, at) && isOf(period, accountId);
  starts.routed(place);
  read?.isNamed(place);
  // Nothing shows that a record without a time was of the period.
  if (!read) unlisted.set(topic, (isDue && isTime(at)) || unlisted.get(topic) === true);
  if (!isDue) return;
  const audited = ledger.find(place);
  if (!audited && isTime(at)) read?.isUnread(place);
  if (audited?.accountId !== accountId) return;
  const isOwn = store === histories.identity;
  audited.routed({ ...routing, spans: isOwn ? await histories.upTo(accountId, routing.confirmed) : null });
}

/** A request is the first entry of its chain, and waits until a dispatcher is done with it. */
export function readRequests(reading: Reading): Promise<void> {
  const { ledger, committed, requests } = reading;
  return each(reading, requests, (record) => {
    for (const entry of entriesOfRequest(record)) logged(reading, entry, record);
    const request = requestIn(record);
    if (!request || request.cancels || !committed.isOpen(record)) return;
    const { payment, accountId, webhookId, chain, attempts } = request.delivery;
    const waiting = { tier: 'requests', chain, attempts, due: record.timestamp };
    find(ledger, payment, accountId)?.waits(webhookId, waiting);
  });
}

export function readDeadLetters(reading: Reading, topic: ReadTopic): Promise<void> {
  const { ledger } = reading;
  return each(reading, topic, (record) => {
    const letter = readDeadLetter(record);
    const { reason, source } = letter;
    if (reason === 'not-valid' && source !== null) ledger.buried(source);
    if (reason === 'unreadable-batch') ledger.batchBuried(letter);
    const place = unroutedPlace(record);
    if (place) ledger.buriedAt(place);
    if (reason === null || !ENDS.has(reason)) return;
    const delivery = deliveryIn(record);
    if (delivery) find(ledger, delivery.payment, delivery.accountId)?.buried(delivery.webhookId, delivery);
  });
}

export function readTier(reading: Reading, topic: ReadTopic): Promise<void> {
  const { ledger, committed, topics } = reading;
  const tier = topics.tierOf(topic.name)?.text ?? topic.name;
  return each(reading, topic, (record) => {
    const delivery = committed.isOpen(record) ? fromRetryRecord(record) : null;
    if (!delivery) return;
    const { payment, accountId, webhookId, chain, attempts } = delivery;
    find(ledger, payment, accountId)?.waits(webhookId, { tier, chain, attempts, due: overAt(record) });
  });
}

async function each(
  { records, progress }: Reading,
  topic: Pick<ReadTopic, 'name' | 'saw'>,
  read: (record: ReceivedRecord) => Promise<void> | void,
  options?: TopicRecordsOptions,
): Promise<void> {
  for await (const record of records(topic.name, options)) {
    progress(topic.name);
    topic.saw(record);
    await read(record);
  }
}

function find(ledger: Ledger, payment: string | null | undefined, accountId: number): AuditedPayment | undefined {
  const place = readPaymentText(payment);
  const found = place ? ledger.find(place) : undefined;
  return found?.accountId === accountId ? found : undefined;
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
