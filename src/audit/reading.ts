/** Reads the topics into the audit's tables, each in its own record format. */
import { entriesOfRequest, requestIn } from '../delivery/again/request.js';
import {
  buriedBatch,
  type DeadLetterReason,
  END_REASONS,
  readDeadLetter,
  unroutedPlace,
} from '../delivery/dead-letters.js';
import { deliveryIn, fromRetryRecord, overAt } from '../delivery/delivery.js';
import { statusIn } from '../delivery/log/delivery-log.js';
import { type DeliveryLogEntry, type RoutedEntry, readLogRecord } from '../delivery/log/log-record.js';
import { keyOfEvent } from '../delivery/payment/parsed-payment.js';
import { parsePaymentEvent } from '../delivery/payment/payment-event.js';
import { placeOf, type RecordOffset, readPaymentText } from '../delivery/record-place.js';
import type { Topics } from '../delivery/topics.js';
import { type Broker, isTime, NO_TIME, type ReceivedRecord, type UnreadableBatch } from '../ports/broker.js';
import type { EventStore } from '../ports/event-store.js';
import type { Scratch } from '../ports/scratch.js';
import type { TopicRecordsOptions } from '../ports/topic-records.js';
import type { ConsumedTopic, ReadTopic } from './read-topic.js';
import type { About, AuditTables } from './tables.js';

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
  /** Empty: the audit makes its tables there. */
  readonly scratch: Scratch;
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
  readonly tables: AuditTables;
  /** Of the audited store; null if it has none. */
  readonly identity: string | null;
  readonly payments: ReadonlyMap<string, ConsumedTopic>;
  readonly requests: ConsumedTopic;
  /** Topics that entries name and PAYMENT_TOPICS lacks, and whether one of the records is of the period. */
  readonly unlisted: Map<string, boolean>;
}

/** Of dead letters that end a delivery. */
const ENDS: ReadonlySet<DeadLetterReason> = new Set<DeadLetterReason>(END_REASONS);
/** A record that is not of the period; its place and time show whether the topic is the one that entries name. */
const OTHER = { kind: null, open: false, account: null, type: null, event: null } as const;

export async function readPayments(reading: Reading, topic: ConsumedTopic): Promise<void> {
  const { tables, committed } = reading;
  const onUnreadable = (batch: UnreadableBatch) => {
    const first = { ...batch, offset: batch.first };
    tables.batch(first, batch.digest, committed.isOpen(first));
  };
  await each(reading, topic, (record) => tables.record(placeOf(record), rowOf(reading, record)), { onUnreadable });
  if (topic.heldBack.size > 0) await readHeldBack(reading, topic);
}

function rowOf({ committed, period }: Reading, record: ReceivedRecord) {
  if (!isWithin(period, record.timestamp)) return OTHER;
  const parsed = parsePaymentEvent(record);
  if (!isOf(period, accountOf(parsed, record))) return OTHER;
  const open = committed.isOpen(record);
  if (!parsed.ok) return { ...OTHER, kind: 'invalid', open } as const;
  const { id: eventId, accountId: account, type, cloudEvent } = parsed.event;
  const event = keyOfEvent({ eventId, eventSource: cloudEvent?.source ?? null });
  return { kind: 'payment', open, account, type, event } as const;
}

/** The records of the period that are still held back. An unreadable batch has no time, so it counts. */
async function readHeldBack({ records, tables, period }: Reading, topic: ConsumedTopic): Promise<void> {
  const held = (place: RecordOffset) => tables.record(place, { ...OTHER, kind: 'held' });
  const onUnreadable = (batch: UnreadableBatch) => held({ ...batch, offset: batch.first, at: NO_TIME });
  const options = { ranges: topic.heldBack, uncommitted: true, onUnreadable };
  for await (const record of records(topic.name, options)) {
    if (!isWithin(period, record.timestamp)) continue;
    if (isOf(period, accountOf(parsePaymentEvent(record), record))) held(placeOf(record));
  }
}

export function readEntries(reading: Reading, topic: ReadTopic): Promise<void> {
  return each(reading, topic, (record) => {
    const { store, deliveries, routed } = readLogRecord(record);
    for (const entry of deliveries) logged(reading, entry, record);
    for (const entry of routed) routedBy(reading, entry, store, record.timestamp);
  });
}

function logged({ tables }: Reading, entry: DeliveryLogEntry, { timestamp }: ReceivedRecord): void {
  const { eventId, eventSource = null } = entry;
  const about = aboutOf(entry);
  if (about) tables.says(about, keyOfEvent({ eventId, eventSource }), statusIn(entry, timestamp));
}

/** @param store whose revisions the entry names @param written when it was */
function routedBy(reading: Reading, entry: RoutedEntry, store: string, written: number): void {
  const { tables, payments, unlisted, period, identity } = reading;
  const { payment, accountId } = entry;
  const place = readPaymentText(payment);
  if (!place) return;
  const { topic, at } = place;
  const read = payments.get(topic);
  // Nothing shows that a record without a time was of the period.
  const isDue = isTime(at) && isWithin(period, at) && isOf(period, accountId);
  if (!read) return void unlisted.set(topic, isDue || unlisted.get(topic) === true);
  const found = tables.found(place);
  read.names(place, written);
  read.isRouted(place, found?.at, isDue);
  if (found?.at === at && found.account === accountId) tables.routed(place, store === identity, entry);
}

/** A request is the first entry of its chain, and waits until a dispatcher is done with it. */
export function readRequests(reading: Reading): Promise<void> {
  const { tables, committed, requests } = reading;
  return each(reading, requests, (record) => {
    for (const entry of entriesOfRequest(record)) logged(reading, entry, record);
    const request = requestIn(record);
    if (!request || request.cancels || !committed.isOpen(record)) return;
    const about = aboutOf(request.delivery);
    if (about) tables.waits(about, request.delivery, 'requests', record.timestamp);
  });
}

export function readDeadLetters(reading: Reading, topic: ReadTopic): Promise<void> {
  const { tables, payments } = reading;
  return each(reading, topic, (record) => {
    const letter = readDeadLetter(record);
    const { reason, source, digest } = letter;
    const named = readPaymentText(`${source}@0`);
    const batch = buriedBatch(letter);
    const place = unroutedPlace(record);
    const last = reason === 'unreadable-batch' ? batch?.last : undefined;
    const first = reason === 'not-valid' || reason === 'unreadable-batch' ? named : place;
    if (first) payments.get(first.topic)?.names({ ...first, offset: last ?? first.offset }, record.timestamp);
    if (reason === 'not-valid' && named) tables.buried(named);
    if (reason === 'unreadable-batch' && named) tables.batchBuried(named, digest);
    if (last !== undefined && named) tables.buried(named, last);
    if (place && tables.found(place)?.at === place.at) tables.buried(place);
    const delivery = reason !== null && ENDS.has(reason) ? deliveryIn(record) : null;
    const about = delivery && aboutOf(delivery);
    if (about) tables.ended(about, delivery);
  });
}

export function readTier(reading: Reading, topic: ReadTopic): Promise<void> {
  const { tables, committed, topics } = reading;
  const tier = topics.tierOf(topic.name)?.text ?? topic.name;
  return each(reading, topic, (record) => {
    const delivery = committed.isOpen(record) ? fromRetryRecord(record) : null;
    const about = delivery && aboutOf(delivery);
    if (about) tables.waits(about, delivery, tier, overAt(record));
  });
}

async function each(
  { records, progress }: Reading,
  topic: Pick<ReadTopic, 'name' | 'saw'>,
  read: (record: ReceivedRecord) => void,
  options?: TopicRecordsOptions,
): Promise<void> {
  for await (const record of records(topic.name, options)) {
    progress(topic.name);
    topic.saw(record);
    read(record);
  }
}

/** Null without the payment's place: another program wrote it. */
function aboutOf({
  payment,
  accountId,
  webhookId,
}: {
  readonly payment?: string | null | undefined;
  readonly accountId: number;
  readonly webhookId: number;
}): About | null {
  const place = readPaymentText(payment);
  return place && { place, accountId, webhookId };
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
