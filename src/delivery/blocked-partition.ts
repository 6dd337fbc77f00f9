/** Partitions that wait, as operators read about them. */
import type { UnreadableBatch } from '../ports/broker.js';

export const MEND_THE_LOG =
  'make another replica the leader, or delete the records up to the end of the damage (kafka-delete-records)';

/** The place and the reason. */
export function blockedText({ topic, partition, first, codec, reason, digest }: UnreadableBatch): string {
  const place = `partition ${partition} of ${topic}`;
  if (digest === null) return `${place} waits at offset ${first}: ${reason}`;
  return `${place} waits a minute before each batch, now at offset ${first}: more than 20 in a row cannot be read (${codec}: ${reason})`;
}

/** Records that an open transaction holds back, from the first one's offset on. */
interface HeldBack {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  readonly records: number;
}

/** For an operator: the place and the reason. */
export function heldBackText({ topic, partition, offset, records }: HeldBack): string {
  return `partition ${partition} of ${topic} holds back ${records} records from offset ${offset} on, for an open transaction`;
}

export const END_THE_TRANSACTION =
  'if this lasts: kafka-transactions.sh --bootstrap-server HOST:PORT find-hanging --topic TOPIC names the transaction, and abort ends it';
