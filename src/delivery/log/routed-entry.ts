/**
 * `routed` entries of the deliveries topic: to which webhooks a payment record was routed, and at which revisions of
 * its account's stream. They make completeness a join: the deliveries due are read, not inferred from clocks.
 *
 * One entry holds many records of one partition. A record appears once for each time it was handed out.
 */
import type { NewRecord, ReceivedRecord } from '../../ports/broker.js';
import { partitionText } from '../record-place.js';

export interface RoutedRecord {
  readonly offset: number;
  /** The record's timestamp, whatever it says: with the offset, it identifies the record. */
  readonly at: number;
  readonly accountId: number;
  /** The account's last revision when the record was routed; -1 if the account was unknown. */
  readonly routed: number;
  /** The account's last revision at the confirmation: never lower. */
  readonly confirmed: number;
  /** The webhooks that got a delivery. */
  readonly webhooks: readonly number[];
}

export interface RoutedEntry {
  readonly kind: 'routed';
  readonly topic: string;
  readonly partition: number;
  /** The identity of the event store: another store has other revisions. */
  readonly store: string;
  /** In order of confirmation. */
  readonly records: readonly RoutedRecord[];
}

export function toRoutedRecord(entry: Omit<RoutedEntry, 'kind'>): NewRecord {
  const { topic, partition, store, records } = entry;
  const value = { kind: 'routed', topic, partition, store, records } satisfies RoutedEntry;
  return { key: Buffer.from(partitionText(entry)), value: Buffer.from(JSON.stringify(value)), headers: [] };
}

/** Null for every other record of the topic. What is unsound among its records is left out. */
export function readRoutedEntry({ value }: Pick<ReceivedRecord, 'value'>): RoutedEntry | null {
  try {
    const entry = JSON.parse(value?.toString('utf8') ?? 'null') as RoutedEntry | null;
    if (entry?.kind !== 'routed' || !isSound(entry)) return null;
    return { ...entry, records: entry.records.filter(isSoundRecord) };
  } catch {
    return null;
  }
}

function isSound({ topic, partition, store, records }: RoutedEntry): boolean {
  return typeof topic === 'string' && typeof store === 'string' && isWhole(partition) && Array.isArray(records);
}

function isSoundRecord(record: RoutedRecord | null): boolean {
  if (typeof record !== 'object' || record === null) return false;
  const { offset, at, accountId, routed, confirmed, webhooks } = record;
  const numbers = [offset, accountId, routed, confirmed];
  // A producer may stamp its records with any 64-bit number.
  return typeof at === 'number' && numbers.every(isWhole) && Array.isArray(webhooks) && webhooks.every(isWhole);
}

function isWhole(value: unknown): boolean {
  return Number.isSafeInteger(value);
}
