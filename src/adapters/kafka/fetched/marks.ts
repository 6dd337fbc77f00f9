/** Messages that are not records: an unreadable batch, offsets without a record, a missing topic or offset. */
import { createHash } from 'node:crypto';
import type { KafkaMessage } from 'kafkajs';
import type { UnreadableBatch } from '../../../ports/broker.js';
import { MAGIC_AT } from './batch-header.js';

export type UnreadableMessage = KafkaMessage & { readonly unreadable: Omit<UnreadableBatch, 'topic' | 'partition'> };

type PassedMessage = KafkaMessage & { readonly passed: true };

/** Why the fetch failed: Kafka has no such topic, or its log has no such offset. */
export type Lost = 'topic' | 'offset';

type LostMessage = KafkaMessage & { readonly lost: Lost };

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

export function lost(at: number, what: Lost): LostMessage {
  return { ...nothing(at), lost: what };
}

export function lostIn(messages: readonly KafkaMessage[]): Lost | undefined {
  return messages.find((message): message is LostMessage => 'lost' in message)?.lost;
}

/** If the broker, or an invalid length, makes everything from the fetched offset on unreadable. */
export function refusal(at: number, reason: string): UnreadableMessage {
  return unreadable({ first: at, last: at, codec: 'unknown', reason, digest: null });
}

export function refusalIn(messages: readonly KafkaMessage[]): UnreadableMessage | undefined {
  return messages.filter(isUnreadable).find(({ unreadable: { digest } }) => digest === null);
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
