/**
 * A record of the deliveries topic holds the entries of one flush (log-writer.ts), as JSON:
 *
 *   { store, deliveries: [...], routed: [...] }    a list that would be empty is left out
 *
 * Nothing relies on the order of entries, or on their partition: records have no key. Readers ignore fields and lists that
 * they do not know, and an entry that is not as described here costs only itself.
 */
import { Ajv } from 'ajv';
import { OWN_SCHEMAS } from '../../payments/payment-event-schema.js';
import { MAX_FIELD_LENGTH, type PaymentFields } from '../../payments/payment-fields.js';
import type { NewRecord, ReceivedRecord } from '../../ports/broker.js';
import type { ViewAttempt } from '../../ports/deliveries-view.js';
import {
  OUTCOMES,
  type Outcome,
  REMOVAL,
  type Trigger,
  WAITING_FOR,
  type WaitingFor,
} from '../../ports/delivery-order.js';
import type { AttemptResult } from '../attempt/attempt.js';
import type { Delivery } from '../delivery.js';
import { jsonIn, readPaymentText } from '../record-place.js';

export interface LoggedAttempt extends ViewAttempt {
  /** Absent: the payment event itself. */
  readonly trigger?: Exclude<Trigger, 'event'> | undefined;
  /** The beginning of the answer, if it failed or was a resend: sealed, see responsePlace. */
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
  /** Of a waiting delivery; absent: its schedule. */
  readonly waitingFor?: WaitingFor | undefined;
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
export interface RoutedEntry extends PaymentFields {
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
}

const TIME = { type: 'string', pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$' };
const WHOLE = { type: 'integer', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER };
const COUNT = { ...WHOLE, minimum: 0 };
const TEXT = { type: 'string' };
const FIELD = { type: 'string', maxLength: MAX_FIELD_LENGTH };
const orNull = (schema: object) => ({ anyOf: [schema, { type: 'null' }] });
const object = (required: object, others: object = {}) => ({
  type: 'object',
  required: Object.keys(required),
  properties: { ...required, ...others },
});

const ATTEMPT = object(
  { at: TIME, status: orNull(WHOLE), error: orNull(TEXT), durationMs: { type: 'number', minimum: 0 }, version: WHOLE },
  { reason: orNull(TEXT), trigger: TEXT, actor: TEXT, response: TEXT },
);

const ajv = new Ajv(OWN_SCHEMAS);
/** An id is shown in headers and URLs. */
export const isDeliveryEntry = ajv.compile<DeliveryLogEntry>(
  object(
    {
      id: { ...TEXT, pattern: '^[!-~]{1,128}$' },
      eventId: TEXT,
      eventType: TEXT,
      accountId: WHOLE,
      webhookId: WHOLE,
      webhookEvent: TEXT,
      outcome: { enum: OUTCOMES },
      chain: COUNT,
      attempts: COUNT,
      attempt: orNull(ATTEMPT),
      nextAttemptAt: orNull(TIME),
    },
    {
      eventSource: TEXT,
      payment: TEXT,
      held: { type: 'boolean' },
      endedBy: { const: REMOVAL },
      step: WHOLE,
      recovery: TEXT,
      waitingFor: { enum: WAITING_FOR },
    },
  ),
);
const isRouted = ajv.compile<RoutedEntry>(
  object(
    {
      payment: TEXT,
      accountId: WHOLE,
      eventId: TEXT,
      eventType: TEXT,
      routed: WHOLE,
      confirmed: WHOLE,
      webhooks: { type: 'array', items: WHOLE },
    },
    { eventSource: TEXT, amount: FIELD, reference: FIELD },
  ),
);

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

type Given = { readonly [Field in keyof Stored]?: Stored[Field] | undefined };

export function toLogRecord(entries: Given): NewRecord {
  return { key: null, value: Buffer.from(JSON.stringify(entries)), headers: [] };
}

/** @param lists of entries that are JSON already, with commas between them */
export function toGatheredRecord(
  store: string,
  lists: { readonly deliveries: string; readonly routed: string },
): NewRecord {
  const list = (name: keyof typeof lists) => lists[name] && `,"${name}":[${lists[name]}]`;
  const text = `{"store":${JSON.stringify(store)}${list('deliveries')}${list('routed')}}`;
  return { key: null, value: Buffer.from(text), headers: [] };
}

/** Without entries for a foreign record. */
export function readLogRecord(record: Pick<ReceivedRecord, 'value'>): Stored {
  const { store, deliveries, routed } = jsonIn<Partial<Stored>>(record) ?? {};
  const isOwn = typeof store === 'string';
  const isPlaced = (entry: unknown): entry is RoutedEntry => isRouted(entry) && readPaymentText(entry.payment) !== null;
  return {
    store: isOwn ? store : '',
    deliveries: sound(deliveries, isDeliveryEntry),
    routed: isOwn ? sound(routed, isPlaced) : [],
  };
}

function sound<T>(entries: unknown, isSound: (entry: unknown) => entry is T): readonly T[] {
  return Array.isArray(entries) ? entries.filter(isSound) : [];
}
