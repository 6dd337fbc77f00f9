/**
 * A record of the deliveries topic holds the entries of one flush (log-writer.ts), as JSON:
 *
 *   { store, deliveries: [...], routed: [...] }    a list that would be empty is left out
 *
 * Nothing relies on the order of entries, or on their partition: the key is the writer's. Readers ignore fields and lists that
 * they do not know, and an entry that is not as described (ports/log-entry.ts) costs only itself.
 */
import { Ajv } from 'ajv';
import { OWN_RECORDS } from '../../payments/payment-event-schema.js';
import type { NewRecord, ReceivedRecord } from '../../ports/broker.js';
import type { Outcome } from '../../ports/delivery-order.js';
import {
  DELIVERY_ENTRY,
  type DeliveryLogEntry,
  type LoggedAttempt,
  ROUTED_ENTRY,
  type RoutedEntry,
} from '../../ports/log-entry.js';
import type { AttemptResult } from '../attempt/attempt.js';
import type { Delivery } from '../delivery.js';
import { jsonIn, readPaymentText } from '../record-place.js';

export interface LogEntries {
  readonly deliveries: readonly DeliveryLogEntry[];
  readonly routed: readonly RoutedEntry[];
}

const ajv = new Ajv(OWN_RECORDS);
export const isDeliveryEntry = ajv.compile<DeliveryLogEntry>(DELIVERY_ENTRY);
const isRouted = ajv.compile<RoutedEntry>(ROUTED_ENTRY);

/** @param nextAttemptAt ms since the epoch: told where it will be kept, by a delivery that waits for its schedule */
export function logEntry(
  delivery: Delivery,
  outcome: Outcome,
  attempt: LoggedAttempt | null,
  nextAttemptAt: number | null,
): DeliveryLogEntry {
  const { id, eventId, cloudEvent, eventType, accountId, webhookId, webhookEvent, payment, chain, attempts, step } =
    delivery;
  const waitingFor = outcome === 'retrying' ? (delivery.waitingFor ?? 'schedule') : 'schedule';
  const isTimed = nextAttemptAt !== null && waitingFor === 'schedule';
  // One literal, because JSON leaves out what is undefined: with spread parts an entry took 9.4 us, and 2.9 so.
  return {
    id,
    eventId,
    eventSource: cloudEvent?.source,
    eventType,
    accountId,
    webhookId,
    webhookEvent,
    payment: payment ?? undefined,
    outcome,
    chain,
    attempts,
    attempt,
    nextAttemptAt: isTimed ? new Date(nextAttemptAt).toISOString() : null,
    waitingFor: waitingFor === 'schedule' ? undefined : waitingFor,
    step: outcome === 'retrying' ? step : undefined,
  };
}

/** @param asked of the delivery before the attempt @param response sealed */
export function loggedAttempt(
  result: AttemptResult,
  version: number,
  asked: Pick<Delivery, 'trigger' | 'actor'> = { trigger: 'event', actor: null },
  response?: string,
): LoggedAttempt {
  const { at, status, error, durationMs } = result;
  return {
    at: new Date(at).toISOString(),
    status,
    error,
    reason: result.error === null ? undefined : result.reason,
    expiredCertificate: result.error === 'tls' ? result.expiredCertificate : undefined,
    durationMs,
    version,
    trigger: asked.trigger === 'event' ? undefined : asked.trigger,
    actor: asked.actor ?? undefined,
    response,
  };
}

interface Stored extends LogEntries {
  /** The identity of the event store whose revisions `routed` names: another store has other revisions. */
  readonly store: string;
}

/** @param lists of entries that are JSON already, with commas between them */
export function toGatheredRecord(
  key: Buffer,
  store: string,
  lists: { readonly deliveries: string; readonly routed: string },
): NewRecord {
  const list = (name: keyof typeof lists) => lists[name] && `,"${name}":[${lists[name]}]`;
  const text = `{"store":${JSON.stringify(store)}${list('deliveries')}${list('routed')}}`;
  return { key, value: Buffer.from(text), headers: [] };
}

/** Ten times what a record of log-writer.ts has: more is forged, and would occupy the thread of the view for minutes. */
const MAX_ENTRIES = 1_000;
const MAX_BYTES = 1024 * 1024;

/** Without entries for a foreign record. */
export function readLogRecord(record: Pick<ReceivedRecord, 'value'>): Stored {
  const isOfOurSize = (record.value?.length ?? 0) <= MAX_BYTES;
  const { store, deliveries, routed } = (isOfOurSize ? jsonIn<Partial<Stored>>(record) : null) ?? {};
  const isOwn = typeof store === 'string';
  const isPlaced = (entry: unknown): entry is RoutedEntry => isRouted(entry) && readPaymentText(entry.payment) !== null;
  return {
    store: isOwn ? store : '',
    deliveries: sound(deliveries, isDeliveryEntry),
    routed: isOwn ? sound(routed, isPlaced) : [],
  };
}

function sound<T>(entries: unknown, isSound: (entry: unknown) => entry is T): readonly T[] {
  return Array.isArray(entries) ? entries.slice(0, MAX_ENTRIES).filter(isSound) : [];
}
