/** A record's place, the texts that name a place in our own records, and what they hold. */
import { LRUCache } from 'lru-cache';
import { type Broker, isTime, type NewRecord, type ReceivedRecord } from '../ports/broker.js';
import type { FirstKept } from '../ports/deliveries-view.js';
import type { PublishedPayloads } from '../ports/published-payloads.js';

export interface RecordOffset {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  /** The record's timestamp: a recreated topic has the same offsets. */
  readonly at: number;
}

export function placeOf({
  topic,
  partition,
  offset,
  timestamp: at,
}: Omit<ReceivedRecord, keyof NewRecord>): RecordOffset {
  return { topic, partition, offset, at };
}

/** topic/partition */
export function partitionText({ topic, partition }: Pick<RecordOffset, 'topic' | 'partition'>): string {
  return `${topic}/${partition}`;
}

/** topic/partition/offset: `aw-source` of dead letters. */
export function sourceText(place: Pick<RecordOffset, 'topic' | 'partition' | 'offset'>): string {
  return `${partitionText(place)}/${place.offset}`;
}

/** topic/partition/offset@ms: `payment` of entries, `aw-payment` of retry records and dead letters. */
export function paymentText(place: RecordOffset): string {
  return `${sourceText(place)}@${place.at}`;
}

/** Null for a text that is no place. */
export function readPaymentText(text: unknown): RecordOffset | null {
  const [, topic, partition, offset, at] = /^(.*)\/(\d+)\/(\d+)@(-?\d+)$/s.exec(String(text)) ?? [];
  if (topic === undefined) return null;
  return { topic, partition: Number(partition), offset: Number(offset), at: Number(at) };
}

/** The record's value; null for one that is no JSON. Foreign records have other fields. */
export function jsonIn<T>({ value }: Pick<ReceivedRecord, 'value'>): T | null {
  try {
    return JSON.parse(value?.toString('utf8') ?? 'null') as T | null;
  } catch {
    return null;
  }
}

/** When the record was published, ms since the epoch: the first time of its deliveries. 0 if it has no time. */
export function firstAtOf(payment: string | undefined): number {
  const { at = 0 } = readPaymentText(payment) ?? {};
  return isTime(at) ? at : 0;
}

/** The payment's record; null if its topic has lost it, or was recreated. @throws BrokerUnavailable */
export async function recordAt(broker: Pick<Broker, 'read'>, payment: string | null): Promise<ReceivedRecord | null> {
  const place = readPaymentText(payment);
  const record = place && (await broker.read(place.topic, place.partition, place.offset));
  return record?.timestamp === place?.at ? record : null;
}

const REMEMBERED_MS = 10_000;

/** @param keptMs how long a payment topic keeps its records; null: not limited by time, or not known */
export function createPublishedPayloads(
  broker: Pick<Broker, 'read' | 'extent'>,
  topics: readonly string[],
  keptMs: (topic: string) => Promise<number | null>,
): PublishedPayloads {
  const firstsOf = async (topic: string) =>
    [...(await broker.extent(topic))].map(([partition, { first }]) => [`${topic}/${partition}/`, first] as const);
  const fetchMethod = async () => Object.fromEntries((await Promise.all(topics.map(firstsOf))).flat());
  // On Kafka each topic takes connections of its own.
  const firstKept = new LRUCache<'all', FirstKept>({ max: 1, ttl: REMEMBERED_MS, fetchMethod });
  return {
    record: (payment) => recordAt(broker, payment),
    async keptUntil(payment) {
      const place = readPaymentText(payment);
      const kept = place && isTime(place.at) ? await keptMs(place.topic) : null;
      return place && kept !== null ? place.at + kept : null;
    },
    firstKept: async () => (await firstKept.fetch('all')) ?? {},
  };
}
