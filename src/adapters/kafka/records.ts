/** Converts records between kafkajs and the port. */
import type { IHeaders, KafkaMessage, Message } from 'kafkajs';
import {
  isTime,
  type NewRecord,
  NO_TIME,
  type ReceivedRecord,
  type RecordHeader,
  type UnreadableBatch,
} from '../../ports/broker.js';
import type { RecordMessage } from './fetched/decode-records.js';
import { isPassed, isUnreadable } from './fetched/marks.js';

/** Of a batch with several records. */
export const BATCH_BYTES = 512 * 1024;

export function toMessage({ key, value, headers }: NewRecord): Message {
  return { key, value, headers: toHeaders(headers) };
}

export function fromMessages(
  { topic, partition }: { readonly topic: string; readonly partition: number },
  messages: readonly KafkaMessage[],
): (ReceivedRecord | UnreadableBatch)[] {
  const received: (ReceivedRecord | UnreadableBatch)[] = [];
  for (const message of messages) {
    if (isUnreadable(message)) received.push({ topic, partition, ...message.unreadable });
    else if (!isPassed(message)) {
      const { key, value } = message;
      const headers = 'headerList' in message ? (message as RecordMessage).headerList : [];
      const [offset, timestamp] = [Number(message.offset), timeOf(message)];
      received.push({ topic, partition, offset, timestamp, key, value, headers });
    }
  }
  return received;
}

/** A publisher may stamp a record with any 64 bits. */
function timeOf({ timestamp }: KafkaMessage): number {
  const ms = Number(timestamp);
  return isTime(ms) ? ms : NO_TIME;
}

/** Approximate size in a batch, bytes. */
export function sizeOf({ key, value, headers }: NewRecord): number {
  const ofHeaders = headers.reduce((sum, [name, bytes]) => sum + name.length + bytes.length + 8, 0);
  return 64 + (key?.length ?? 0) + (value?.length ?? 0) + ofHeaders;
}

function toHeaders(headers: readonly RecordHeader[]): IHeaders {
  const byName: Record<string, Buffer[]> = Object.create(null);
  for (const [name, value] of headers) {
    byName[name] ??= [];
    byName[name].push(value);
  }
  return byName;
}
