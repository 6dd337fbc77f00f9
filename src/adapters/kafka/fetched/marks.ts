/** Messages that are not records: an unreadable batch, offsets without a record. */
import { createHash } from 'node:crypto';
import type { KafkaMessage } from 'kafkajs';
import type { UnreadableBatch } from '../../../ports/broker.js';
import { MAGIC_AT } from './batch-header.js';

export type UnreadableMessage = KafkaMessage & { readonly unreadable: Omit<UnreadableBatch, 'topic' | 'partition'> };

type PassedMessage = KafkaMessage & { readonly passed: true };

export function isUnreadable(message: KafkaMessage): message is UnreadableMessage {
  return 'unreadable' in message;
}

/** All offsets up to this one are done: transaction markers, aborted records, and compacted records. */
export function isPassed(message: KafkaMessage): message is PassedMessage {
  return 'passed' in message;
}

/** With the offset of the batch's last record: kafkajs then goes on behind it. */
export function unreadable(what: UnreadableMessage['unreadable']): UnreadableMessage {
  return { ...nothing(what.last), unreadable: what };
}

export function passed(last: number): PassedMessage {
  return { ...nothing(last), passed: true };
}

/** The same batch has the same digest from any leader; a different batch at the same offsets has another. */
export function digestOf(batch: Buffer): string {
  return createHash('sha256').update(batch.subarray(MAGIC_AT)).digest('hex').slice(0, 32);
}

/** One line, cut to a length that fits a log or a header. */
export function reasonOf(error: unknown): string {
  const text = (error as Partial<Error> | null)?.message ?? String(error);
  return (text.split('\n')[0] ?? '').slice(0, 200);
}

function nothing(offset: number): KafkaMessage {
  const message = { key: null, value: null, timestamp: '0', attributes: 0, offset: String(offset), headers: {} };
  // kafkajs reads this property, which its types lack.
  return { ...message, ...{ isControlRecord: false } };
}
