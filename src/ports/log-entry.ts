/**
 * The entries of the deliveries topic (delivery/log/log-record.ts), described once: the log writes them, and the view, the
 * audit and the commands read them. An entry of the view is an entry of the log with its record position
 * (deliveries-view.ts).
 */
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
} from '../schema.js';
import { OUTCOMES, REMOVAL, TRIGGERS, WAITING_FOR } from './delivery-order.js';

const SAFE = { minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER };
const COUNT = { ...SAFE, minimum: 0 };
const TIME = { pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$' };
/** Limit on an amount or a reference, in UTF-16 code units. */
export const MAX_FIELD_LENGTH = 64;
const FIELD = { maxLength: MAX_FIELD_LENGTH };
const EVENT_SOURCE = text("For CloudEvents only: with eventId, the event's identity.");

const ATTEMPT = object('LoggedAttempt', '', {
  at: text('Start of the attempt; ISO 8601, UTC, ms.', TIME),
  status: orNull(whole('', SAFE)),
  error: orNull(text('')),
  durationMs: milliseconds(''),
  version: whole('', SAFE),
  reason: optional(orNull(text('Of an error: its cause, as a code, or null.'))),
  expiredCertificate: optional(
    object('ExpiredCertificate', '', { name: orNull(text('')), expiredAt: orNull(text('', TIME)) }),
  ),
  trigger: optional(oneOf(TRIGGERS, 'Absent: the payment event itself.')),
  actor: optional(text('')),
  response: optional(text('The beginning of the answer, if it failed or was a resend: sealed, see responsePlace.')),
});

export const DELIVERY_ENTRY = object('DeliveryLogEntry', '', {
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
  chain: whole("0: the payment's own (delivery-order.ts).", COUNT),
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
export const ROUTED_ENTRY = object(
  'RoutedEntry',
  'To which webhooks a payment was routed, each time that it was handed out.',
  {
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
  },
);

export type LoggedAttempt = Written<typeof ATTEMPT>;
/** Its attempt is null without one: deferred (a full queue or a stop), cancelled, or exhausted by its lifetime. */
export type DeliveryLogEntry = Written<typeof DELIVERY_ENTRY>;
export type RoutedEntry = Written<typeof ROUTED_ENTRY>;
