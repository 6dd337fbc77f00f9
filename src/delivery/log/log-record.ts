/**
 * A record of the deliveries topic holds the entries of one flush (log-writer.ts), as JSON:
 *
 *   { store, deliveries: [...], routed: [...] }    a list that would be empty is left out
 *
 * Nothing relies on the order of entries, or on their partition: the key is the writer's. Readers ignore fields and lists that
 * they do not know, and an entry that is not as described here costs only itself.
 */
import { Ajv } from 'ajv';
import { OWN_RECORDS } from '../../payments/payment-event-schema.js';
import { MAX_FIELD_LENGTH } from '../../payments/payment-fields.js';
import type { NewRecord, ReceivedRecord } from '../../ports/broker.js';
import { OUTCOMES, type Outcome, REMOVAL, TRIGGERS, WAITING_FOR } from '../../ports/delivery-order.js';
import {
  always,
  flag,
  list,
  milliseconds,
  object,
  oneOf,
  optional,
  orNull,
  type Schema,
  text,
  type Written,
  whole,
} from '../../schema.js';
import type { AttemptResult } from '../attempt/attempt.js';
import type { Delivery } from '../delivery.js';
import { jsonIn, readPaymentText } from '../record-place.js';

const SAFE = { minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER };
const COUNT = { ...SAFE, minimum: 0 };
const TIME = { pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$' };
const FIELD = { maxLength: MAX_FIELD_LENGTH };
const EVENT_SOURCE = text("For CloudEvents only: with eventId, the event's identity.");

const ATTEMPT = object('LoggedAttempt', 'See ViewAttempt.', {
  at: text('', TIME),
  status: orNull(whole('', SAFE)),
  error: orNull(text('')),
  durationMs: milliseconds(''),
  version: whole('', SAFE),
  reason: optional(orNull(text(''))),
  expiredCertificate: optional(
    object('ExpiredCertificate', '', { name: orNull(text('')), expiredAt: orNull(text('', TIME)) }),
  ),
  trigger: optional(oneOf(TRIGGERS, 'Absent: the payment event itself.')),
  actor: optional(text('')),
  response: optional(text('The beginning of the answer, if it failed or was a resend: sealed, see responsePlace.')),
});

const DELIVERY = object('DeliveryLogEntry', '', {
  id: text('It is shown in headers and URLs.', { pattern: '^[!-~]{1,128}$' }),
  eventId: text(''),
  eventSource: optional(EVENT_SOURCE),
  eventType: text(''),
  accountId: whole('', SAFE),
  webhookId: whole('', SAFE),
  webhookEvent: text('The id of the event that added the webhook.'),
  payment: optional(
    text("The payment's record (record-place.ts); absent where another program wrote the delivery to a tier."),
  ),
  outcome: oneOf(OUTCOMES, ''),
  chain: whole("0: the payment's own (ports/delivery-order.ts).", COUNT),
  attempts: whole('That its chain had made by then.', COUNT),
  attempt: orNull(ATTEMPT as Schema<LoggedAttempt>),
  nextAttemptAt: orNull(text('', TIME)),
  waitingFor: optional(oneOf(WAITING_FOR, 'Of a waiting delivery; absent: its schedule.')),
  held: optional(flag('Exhausted without an attempt, because the service had switched the webhook off.')),
  endedBy: optional(always(REMOVAL, 'Cancelled, because the webhook was removed.')),
  step: optional(whole('Of a waiting delivery: its step in the schedule.', SAFE)),
  recovery: optional(text('Of a request: the recovery that made it.')),
});

/** These entries make completeness a join: the deliveries due are read, not inferred from clocks. */
const ROUTED = object('RoutedEntry', 'To which webhooks a payment was routed, each time that it was handed out.', {
  payment: text("The place of the payment's record (record-place.ts)."),
  accountId: whole('', SAFE),
  eventId: text(''),
  eventSource: optional(EVENT_SOURCE),
  eventType: text(''),
  routed: whole("The account's last revision when the record was routed; -1 if the account was unknown.", SAFE),
  confirmed: whole("The account's last revision at the confirmation: never lower.", SAFE),
  webhooks: list('Those that got a delivery.', whole('', SAFE)),
  amount: optional(text('', FIELD)),
  reference: optional(text('', FIELD)),
});

export type LoggedAttempt = Written<typeof ATTEMPT>;
/** Its attempt is null without one: deferred (a full queue or a stop), cancelled, or exhausted by its lifetime. */
export type DeliveryLogEntry = Written<typeof DELIVERY>;
export type RoutedEntry = Written<typeof ROUTED>;

export interface LogEntries {
  readonly deliveries: readonly DeliveryLogEntry[];
  readonly routed: readonly RoutedEntry[];
}

const ajv = new Ajv(OWN_RECORDS);
export const isDeliveryEntry = ajv.compile<DeliveryLogEntry>(DELIVERY);
const isRouted = ajv.compile<RoutedEntry>(ROUTED);

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
