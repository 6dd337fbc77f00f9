/**
 * `start` entries of the deliveries topic: where a dispatcher began to read a partition of a payment topic elsewhere than at
 * its group's committed offset. The entry is durable before the group commits an offset, so a partition with a committed
 * offset has one, and none of its records is from an earlier time without entries.
 */
import type { NewRecord, PartitionStart, ReceivedRecord } from '../../ports/broker.js';
import { partitionText } from '../record-place.js';

interface StartEntry extends PartitionStart {
  readonly kind: 'start';
}

/** Its key is that of the partition's `routed` entries. */
export function toStartRecord(start: PartitionStart): NewRecord {
  const { topic, partition, expected, offset } = start;
  const value = { kind: 'start', topic, partition, expected, offset } satisfies StartEntry;
  return { key: Buffer.from(partitionText(start)), value: Buffer.from(JSON.stringify(value)), headers: [] };
}

/** Null for every other record of the topic. */
export function readStartEntry({ value }: Pick<ReceivedRecord, 'value'>): PartitionStart | null {
  try {
    const entry = JSON.parse(value?.toString('utf8') ?? 'null') as StartEntry | null;
    return entry?.kind === 'start' && isSound(entry) ? entry : null;
  } catch {
    return null;
  }
}

function isSound({ topic, partition, expected, offset }: StartEntry): boolean {
  const numbers = [partition, offset, expected ?? 0];
  return typeof topic === 'string' && numbers.every((number) => Number.isSafeInteger(number));
}
