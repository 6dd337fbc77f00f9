/** Messages that stand for no record: a batch that can't be read, offsets that hold nothing for anybody, what is gone. */
import { createHash } from 'node:crypto';
import type { KafkaMessage } from 'kafkajs';
import type { UnreadableBatch } from '../../../ports/broker.js';
import { MAGIC_AT } from './batch-header.js';

export type UnreadableMessage = KafkaMessage & { readonly unreadable: Omit<UnreadableBatch, 'topic' | 'partition'> };

type PassedMessage = KafkaMessage & { readonly passed: true };

/** Why nothing can be fetched from there: Kafka knows no such topic, or its log has no such offset. */
export type Lost = 'topic' | 'offset';

type LostMessage = KafkaMessage & { readonly lost: Lost };

export function isUnreadable(message: KafkaMessage): message is UnreadableMessage {
  return 'unreadable' in message;
}

/** All up to its offset are done: markers of transactions, aborted records, and what compaction has taken. */
export function isPassed(message: KafkaMessage): message is PassedMessage {
  return 'passed' in message;
}

/** Under the offset of its last record, so that kafkajs goes on behind it. */
export function unreadable(what: UnreadableMessage['unreadable']): UnreadableMessage {
  return { ...nothing(what.last), unreadable: what };
}

export function passed(last: number): PassedMessage {
  return { ...nothing(last), passed: true };
}

/** Instead of what was to come at this offset. */
export function lost(at: number, what: Lost): LostMessage {
  return { ...nothing(at), lost: what };
}

export function lostIn(messages: readonly KafkaMessage[]): Lost | undefined {
  return messages.find((message): message is LostMessage => 'lost' in message)?.lost;
}

/** Where the broker, or a length, keeps everything from the fetched offset on from being read. */
export function refusal(at: number, reason: string): UnreadableMessage {
  return unreadable({ first: at, last: at, codec: 'unknown', reason, digest: null });
}

export function refusalIn(messages: readonly KafkaMessage[]): UnreadableMessage | undefined {
  return messages.filter(isUnreadable).find(({ unreadable: { digest } }) => digest === null);
}

/** The same batch again gives the same, whoever leads its partition then: another one of the same offsets does not. */
export function digestOf(batch: Buffer): string {
  return createHash('sha256').update(batch.subarray(MAGIC_AT)).digest('hex').slice(0, 32);
}

/** One line, and no more of it than a log or a header takes. */
export function reasonOf(error: unknown): string {
  const text = (error as Partial<Error> | null)?.message ?? String(error);
  return (text.split('\n')[0] ?? '').slice(0, 200);
}

function nothing(offset: number): KafkaMessage {
  const message = { key: null, value: null, timestamp: '0', attributes: 0, offset: String(offset), headers: {} };
  // kafkajs itself looks at the one that its types do not have.
  return { ...message, ...{ isControlRecord: false } };
}
