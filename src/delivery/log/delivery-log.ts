/** What became of deliveries, from their entries and requests: for commands, which read the topics to their ends. */
import type { ReceivedRecord } from '../../ports/broker.js';
import { type DeliveryFold, type DeliveryStatus, statusOf, withStatus } from '../../ports/delivery-order.js';
import { type RecordsBroker, topicRecords } from '../../ports/topic-records.js';
import { entriesOfRequest } from '../again/request.js';
import { firstAtOf } from '../record-place.js';
import type { Topics } from '../topics.js';
import { type DeliveryLogEntry, type LoggedAttempt, readLogRecord } from './log-record.js';

export interface DeliveryView extends Omit<DeliveryLogEntry, 'attempt' | 'attempts' | 'chain'> {
  readonly attempts: readonly LoggedAttempt[];
}

/** The topics that say what became of deliveries. */
export interface DeliveryTopics {
  readonly log: AsyncIterable<ReceivedRecord>;
  readonly requests: AsyncIterable<ReceivedRecord>;
}

/** To their ends. */
export function deliveryTopics(
  broker: RecordsBroker,
  { deliveries, requests }: Pick<Topics, 'deliveries' | 'requests'>,
): DeliveryTopics {
  return { log: topicRecords(broker, deliveries), requests: topicRecords(broker, requests) };
}

/** An entry, and when it was published, ms since the epoch. */
type Published = DeliveryLogEntry & { readonly at: number };

interface Folded {
  readonly fold: DeliveryFold<Published>;
  /** By its content: a duplicate in the topic counts once. */
  readonly attempts: Map<string, LoggedAttempt>;
}

/** An account's deliveries, in the order of pages (ports/deliveries-view.ts). */
export async function deliveriesOf(accountId: number, topics: DeliveryTopics): Promise<DeliveryView[]> {
  const deliveries = new Map<string, Folded>();
  for await (const entry of entriesOf(topics)) {
    if (entry.accountId !== accountId) continue;
    const key = deliveryKey(entry);
    const known = deliveries.get(key);
    const attempts = known?.attempts ?? new Map<string, LoggedAttempt>();
    if (entry.attempt) attempts.set(JSON.stringify(entry.attempt), entry.attempt);
    deliveries.set(key, { fold: withStatus(known?.fold, entry), attempts });
  }
  return [...deliveries.values()].map(viewOf).sort(newestFirst);
}

function viewOf({ fold, attempts }: Folded): DeliveryView {
  const { attempt: _, attempts: __, chain: ___, at: ____, ...now } = statusOf(fold);
  const inOrder = [...attempts.values()].sort((one, other) => (one.at < other.at ? -1 : Number(one.at > other.at)));
  return { ...now, attempts: inOrder };
}

function newestFirst(one: DeliveryView, other: DeliveryView): number {
  return firstAtOf(other.payment) - firstAtOf(one.payment) || (deliveryKey(one) < deliveryKey(other) ? 1 : -1);
}

/** Each publication of an event has a delivery of its own, under one id. */
export function deliveryKey({ id, payment }: { readonly id: string; readonly payment?: string | null | undefined }) {
  return `${id} ${payment ?? ''}`;
}

/** Every delivery, by deliveryKey. */
export async function foldOfAll(topics: DeliveryTopics): Promise<Map<string, DeliveryFold>> {
  const all = new Map<string, DeliveryFold>();
  for await (const entry of entriesOf(topics)) {
    const key = deliveryKey(entry);
    all.set(key, withStatus(all.get(key), statusIn(entry, entry.at)));
  }
  return all;
}

async function* entriesOf({ log, requests }: DeliveryTopics): AsyncIterable<Published> {
  for await (const record of requests) {
    for (const entry of entriesOfRequest(record)) yield { ...entry, at: record.timestamp };
  }
  for await (const record of log) {
    for (const entry of readLogRecord(record).deliveries) yield { ...entry, at: record.timestamp };
  }
}

/** @param at when the entry was published, ms since the epoch */
export function statusIn({ outcome, chain, attempts, nextAttemptAt }: DeliveryLogEntry, at: number): DeliveryStatus {
  return { outcome, chain, attempts, at, nextAttemptAt };
}
