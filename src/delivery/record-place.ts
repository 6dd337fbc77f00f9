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
async function recordAt(broker: Pick<Broker, 'read'>, payment: string | null): Promise<ReceivedRecord | null> {
  const place = readPaymentText(payment);
  const record = place && (await broker.read(place.topic, place.partition, place.offset));
  return record?.timestamp === place?.at ? record : null;
}

const REMEMBERED_MS = 10_000;
const MAX_PARTITION = 2 ** 31 - 1;

export interface PayloadTopics {
  /** The payment topics of the settings. */
  readonly topics: readonly string[];
  /** How long a payment topic keeps its records; null: not limited by time, or not known. */
  readonly keptMs: (topic: string) => Promise<number | null>;
  /** Called for each record that is not read, because there cannot be one: its log entry is wrong, or its topic was deleted. */
  readonly impossible: (place: RecordOffset) => void;
}

/**
 * Reads only places that can exist. Whoever may write to the deliveries topic can name any other: on Kafka each would take
 * seconds, and fail what other reads of its connection ask for.
 */
export function createPublishedPayloads(
  broker: Pick<Broker, 'read' | 'extent' | 'listTopics'>,
  { topics, keptMs, impossible }: PayloadTopics,
): PublishedPayloads {
  const fetchTopics = async () => new Set(await broker.listTopics());
  const existing = new LRUCache<'all', ReadonlySet<string>>({ max: 1, ttl: REMEMBERED_MS, fetchMethod: fetchTopics });
  const canExist = async ({ topic, partition, offset }: RecordOffset) =>
    partition <= MAX_PARTITION &&
    Number.isSafeInteger(offset) &&
    (topics.includes(topic) || (await existing.fetch('all'))?.has(topic) === true);
  const hasPartition = partitionsIn(broker);
  const firstsOf = async (topic: string) =>
    [...(await broker.extent(topic))].map(([partition, { first }]) => [`${topic}/${partition}/`, first] as const);
  const fetchMethod = async () => Object.fromEntries((await Promise.all(topics.map(firstsOf))).flat());
  // On Kafka each topic takes connections of its own.
  const firstKept = new LRUCache<'all', FirstKept>({ max: 1, ttl: REMEMBERED_MS, fetchMethod });
  return {
    async record(payment) {
      const place = readPaymentText(payment);
      if (!place || ((await canExist(place)) && (await hasPartition(place)))) return recordAt(broker, payment);
      impossible(place);
      return null;
    },
    async keptUntil(payment) {
      const place = readPaymentText(payment);
      const kept = place && isTime(place.at) && (await canExist(place)) ? await keptMs(place.topic) : null;
      return place && kept !== null ? place.at + kept : null;
    },
    firstKept: async () => (await firstKept.fetch('all')) ?? {},
  };
}

const MOST_TOPICS = 1_000;

/** Of a topic that exists. Also true where the broker does not tell: reading the record says why. */
function partitionsIn(broker: Pick<Broker, 'extent'>): (place: RecordOffset) => Promise<boolean> {
  const fetchMethod = async (topic: string) => {
    const extents = await broker.extent(topic).catch(() => null);
    return { partitions: extents && new Set(extents.keys()) };
  };
  const asked = new LRUCache<string, Awaited<ReturnType<typeof fetchMethod>>>({
    max: MOST_TOPICS,
    ttl: REMEMBERED_MS,
    fetchMethod,
  });
  // A topic loses no partition: what was seen once is read without asking a broker that may not answer.
  const seen = new Set<string>();
  return async (place) => {
    const name = partitionText(place);
    if (seen.has(name)) return true;
    const { partitions = null } = (await asked.fetch(place.topic)) ?? {};
    if (partitions?.has(place.partition)) seen.add(name);
    return partitions?.has(place.partition) ?? true;
  };
}
