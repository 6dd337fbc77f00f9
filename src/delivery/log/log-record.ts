/**
 * A record of the deliveries topic holds the entries of one flush (log-writer.ts), as JSON:
 *
 *   { store, deliveries: [...], routed: [...], starts: [...] }    a list that would be empty is left out
 *
 * Nothing relies on the order of entries, or on their partition: records have no key. Readers ignore fields and lists that
 * they do not know, and an entry that lacks a required field costs only itself.
 */
import type { NewRecord, PartitionStart, ReceivedRecord } from '../../ports/broker.js';
import type { ViewAttempt } from '../../ports/deliveries-view.js';
import type { Outcome, REMOVAL, TRIGGERS } from '../../ports/delivery-order.js';
import { jsonIn, readPaymentText } from '../record-place.js';

/** What an attempt was made for. */
export type Trigger = (typeof TRIGGERS)[number];

export interface LoggedAttempt extends ViewAttempt {
  /** Absent: the payment event itself. */
  readonly trigger?: Exclude<Trigger, 'event'> | undefined;
  /** The beginning of the answer, if it failed: sealed, see responsePlace. */
  readonly response?: string | undefined;
}

export interface DeliveryLogEntry {
  readonly id: string;
  readonly eventId: string;
  /** For CloudEvents only: with eventId, the event's identity. */
  readonly eventSource?: string | undefined;
  readonly eventType: string;
  readonly accountId: number;
  readonly webhookId: number;
  /** The id of the event that added the webhook. */
  readonly webhookEvent: string;
  /** The payment's record (record-place.ts); without it for a delivery that another program wrote to a tier. */
  readonly payment?: string | undefined;
  readonly outcome: Outcome;
  /** 0: the payment's own (ports/delivery-order.ts). */
  readonly chain: number;
  /** That its chain had made by then. */
  readonly attempts: number;
  /** Null without an attempt: deferred (a full queue or a stop), cancelled, or exhausted by its lifetime. */
  readonly attempt: LoggedAttempt | null;
  readonly nextAttemptAt: string | null;
  /** Exhausted without an attempt, because the service had switched the webhook off. */
  readonly held?: true | undefined;
  /** Cancelled, because the webhook was removed. */
  readonly endedBy?: typeof REMOVAL | undefined;
  /** Of a waiting delivery: its step in the schedule. */
  readonly step?: number | undefined;
  /** Of a request: the recovery that made it. */
  readonly recovery?: string | undefined;
}

/**
 * To which webhooks a payment record was routed, each time that it was handed out, and at which revisions of its account's
 * stream. These entries make completeness a join: the deliveries due are read, not inferred from clocks.
 */
export interface RoutedEntry {
  /** The place of the payment's record (record-place.ts). */
  readonly payment: string;
  readonly accountId: number;
  readonly eventId: string;
  /** For CloudEvents only. */
  readonly eventSource?: string | undefined;
  readonly eventType: string;
  /** The account's last revision when the record was routed; -1 if the account was unknown. */
  readonly routed: number;
  /** The account's last revision at the confirmation: never lower. */
  readonly confirmed: number;
  /** The webhooks that got a delivery. */
  readonly webhooks: readonly number[];
}

export interface LogEntries {
  readonly deliveries: readonly DeliveryLogEntry[];
  readonly routed: readonly RoutedEntry[];
  /**
   * Where a dispatcher began to read a partition of a payment topic elsewhere than at its group's committed offset. Durable
   * before the group commits an offset: so a partition with a committed offset has one.
   */
  readonly starts: readonly PartitionStart[];
}

interface Stored extends LogEntries {
  /** The identity of the event store whose revisions `routed` names: another store has other revisions. */
  readonly store: string;
}

type Given = { readonly [Field in keyof Stored]?: Stored[Field] | undefined };

export function toLogRecord(entries: Given): NewRecord {
  return { key: null, value: Buffer.from(JSON.stringify(entries)), headers: [] };
}

/** @param lists of entries that are JSON already */
export function toGatheredRecord(store: string, lists: Readonly<Record<string, readonly string[]>>): NewRecord {
  const given = Object.entries(lists).filter(([, entries]) => entries.length > 0);
  const texts = given.map(([name, entries]) => `,"${name}":[${entries.join()}]`);
  return { key: null, value: Buffer.from(`{"store":${JSON.stringify(store)}${texts.join('')}}`), headers: [] };
}

/** Without entries for a foreign record. */
export function readLogRecord(record: Pick<ReceivedRecord, 'value'>): Stored {
  const { store, deliveries, routed, starts } = jsonIn<Partial<Stored>>(record) ?? {};
  const isOwn = typeof store === 'string';
  return {
    store: isOwn ? store : '',
    deliveries: sound(
      deliveries,
      ({ id, chain, attempts }) => typeof id === 'string' && isWhole(chain) && isWhole(attempts),
    ),
    routed: isOwn ? sound(routed, isSoundRouted) : [],
    starts: sound(starts, isSoundStart),
  };
}

function sound<T>(entries: readonly T[] | undefined, isSound: (entry: T) => boolean): readonly T[] {
  if (!Array.isArray(entries)) return [];
  return entries.filter((entry: T | null) => typeof entry === 'object' && entry !== null && isSound(entry));
}

function isSoundRouted({ payment, accountId, routed, confirmed, webhooks }: RoutedEntry): boolean {
  if (readPaymentText(payment) === null || !Array.isArray(webhooks)) return false;
  return [accountId, routed, confirmed, ...webhooks].every(isWhole);
}

function isSoundStart({ topic, partition, expected, offset }: PartitionStart): boolean {
  return typeof topic === 'string' && [partition, offset, expected ?? 0].every(isWhole);
}

function isWhole(value: unknown): boolean {
  return Number.isSafeInteger(value);
}
