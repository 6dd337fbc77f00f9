/** Records as kafkajs has them, and as the port has them. */
import type { IHeaders, KafkaMessage, Message } from 'kafkajs';
import type { NewRecord, ReceivedRecord, RecordHeader, UnreadableBatch } from '../../ports/broker.js';
import { isUnreadable } from './fetched/record-batch.js';

export function toMessage({ key, value, headers }: NewRecord): Message {
  return { key, value, headers: toHeaders(headers) };
}

export function fromMessage(topic: string, partition: number, message: KafkaMessage): ReceivedRecord | UnreadableBatch {
  if (isUnreadable(message)) return { topic, partition, ...message.unreadable };
  const { key, value, offset, timestamp } = message;
  const headers = fromHeaders(message.headers ?? {});
  return { topic, partition, offset: Number(offset), timestamp: Number(timestamp), key, value, headers };
}

/** About what it takes in a batch, in bytes. */
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

/**
 * Hazard: kafkajs collects headers in a plain object, so under a name like `constructor` it gives what that inherits as
 * a first value, and `__proto__` is lost.
 */
function fromHeaders(headers: IHeaders): RecordHeader[] {
  return Object.entries(headers).flatMap(([name, values]) =>
    [values].flat().flatMap((value): RecordHeader[] => {
      if (value === null) return [[name, Buffer.alloc(0)]];
      return Buffer.isBuffer(value) ? [[name, value]] : [];
    }),
  );
}
