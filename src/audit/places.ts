/** Places of records, as deliveries name that of their payment (`placeOf`). */
import type { ReceivedRecord } from '../ports/broker.js';

export interface Place {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  /** When the record was published, ms since the epoch: a topic that was made again has the same offsets. */
  readonly at: number;
}

export function placeOf({ topic, partition, offset, timestamp: at }: ReceivedRecord): Place {
  return { topic, partition, offset, at };
}

/** Null for a text that is no place. */
export function readPlace(text: unknown): Place | null {
  const [, topic, partition, offset, at] = /^(.*)\/(\d+)\/(\d+)@(-?\d+)$/s.exec(String(text)) ?? [];
  if (topic === undefined) return null;
  return { topic, partition: Number(partition), offset: Number(offset), at: Number(at) };
}

export function partitionOf({ topic, partition }: Pick<Place, 'topic' | 'partition'>): string {
  return `${topic}/${partition}`;
}
