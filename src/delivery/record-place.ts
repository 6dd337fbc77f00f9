/** A record's place, and the texts that name a place in our own records. */
import { isTime, type ReceivedRecord } from '../ports/broker.js';

export interface Place {
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
}: Omit<ReceivedRecord, 'key' | 'value' | 'headers'>): Place {
  return { topic, partition, offset, at };
}

/** topic/partition */
export function partitionText({ topic, partition }: Pick<Place, 'topic' | 'partition'>): string {
  return `${topic}/${partition}`;
}

/** topic/partition/offset: `aw-source` of dead letters. */
export function sourceText(place: Pick<Place, 'topic' | 'partition' | 'offset'>): string {
  return `${partitionText(place)}/${place.offset}`;
}

/** topic/partition/offset@ms: `payment` of entries, `aw-payment` of retry records and dead letters. */
export function paymentText(place: Place): string {
  return `${sourceText(place)}@${place.at}`;
}

/** Null for a text that is no place. */
export function readPaymentText(text: unknown): Place | null {
  const [, topic, partition, offset, at] = /^(.*)\/(\d+)\/(\d+)@(-?\d+)$/s.exec(String(text)) ?? [];
  if (topic === undefined) return null;
  return { topic, partition: Number(partition), offset: Number(offset), at: Number(at) };
}

/** When the record was published, ms since the epoch: the first time of its deliveries. 0 if it has no time. */
export function firstAtOf(payment: string | undefined): number {
  const { at = 0 } = readPaymentText(payment) ?? {};
  return isTime(at) ? at : 0;
}
