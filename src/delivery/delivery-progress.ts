/**
 * How far a delivery is: the header `aw-delivery` of members of bundles, requests and dead letters, as JSON. Only the service
 * writes and reads it. Beside it, those have the payment's value and its foreign headers.
 */
import { Ajv } from 'ajv';
import { MAX_ID_BYTES, OWN_RECORDS } from '../payments/payment-event-schema.js';
import { headerText, type NewRecord, type RecordHeader } from '../ports/broker.js';
import { TRIGGERS, WAITING_FOR } from '../ports/delivery-order.js';
import {
  flag,
  list,
  milliseconds,
  object,
  oneOf,
  optional,
  orNull,
  type Static,
  text,
  type Written,
  whole,
} from '../schema.js';

const HEADER = 'aw-delivery';
/** Of a payment: else a forged record would make an entry that the deliveries topic refuses. */
const ID = { maxLength: MAX_ID_BYTES };
const COUNT = { minimum: 0, maximum: Number.MAX_SAFE_INTEGER };
const SAFE = { minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER };

const CLOUD_EVENT = object('CloudEvent', 'What makes the payment one.', {
  source: text('With the id of the event, its identity.', ID),
  mode: oneOf(['structured', 'binary'], 'Where its attributes are.'),
});
const TRACE = object('Trace', 'As trace context says (observability/tracing.ts).', {
  traceId: text(''),
  spanId: text(''),
  flags: whole('', COUNT),
  state: orNull(text('')),
});

const PROGRESS = {
  id: text('The webhook-id, the same on every attempt.'),
  isNotice: flag('A delivery that is not logged, and has no dead letter.'),
  accountId: whole('', SAFE),
  webhookId: whole('', SAFE),
  webhookEvent: text('The id of the event that added the webhook.'),
  eventId: text('', ID),
  eventType: text(''),
  cloudEvent: orNull(CLOUD_EVENT),
  payment: orNull(
    text("The place of its record (record-place.ts): an event's two publications are two deliveries. Null: unknown."),
  ),
  publishedAt: orNull(whole("When the payment's record was published, ms since the epoch; null if unknown.", SAFE)),
  chain: whole("Of its attempts: 0 began with the payment; one of a request has the request's offset plus one.", COUNT),
  attempts: whole('That the chain has made so far.', COUNT),
  step: whole('Index in the schedule: the delay before the attempt that follows the next failure.', COUNT),
  deferrals: whole('How often in a row the delivery was deferred: 0 after an attempt.', COUNT),
  deferredFrom: orNull(
    milliseconds('`usedMs` when its URL, which took nothing, first deferred it since its last attempt.'),
  ),
  refused: whole('How many of its last attempts in a row the receiver refused on purpose (429, 503).', COUNT),
  waitingFor: orNull(oneOf(WAITING_FOR, 'Why it waits, as the log says; null: the log has not said it.')),
  usedMs: milliseconds(
    "Of its chain's lifetime: in a tier until its record is due, and in hand; not while it was due and not taken.",
  ),
  trigger: oneOf(TRIGGERS, 'What the next attempt is made for.'),
  actor: orNull(text('Who asked for it; null: nobody.')),
  trace: orNull(TRACE),
};
const DELIVERY_PROGRESS = object('Progress', '', PROGRESS);
const STORED_PROGRESS = object('StoredProgress', 'With what a record tells beside.', {
  ...PROGRESS,
  key: optional(text("The payment's key, in base64.")),
  recovery: optional(text('Of a request: the recovery that made it.')),
  cancels: optional(list('Of a request to cancel: the places of all publications that it ends.', text(''))),
});

export type DeliveryProgress = Static<typeof DELIVERY_PROGRESS>;
export type StoredProgress = Written<typeof STORED_PROGRESS>;

/** Of a delivery that was not deferred since its last attempt. */
export const NOT_DEFERRED = { deferrals: 0, deferredFrom: null };

export const NOT_BEGUN = {
  ...NOT_DEFERRED,
  isNotice: false,
  chain: 0,
  attempts: 0,
  step: 0,
  refused: 0,
  usedMs: 0,
  waitingFor: null,
  ...({ trigger: 'event', actor: null } as const),
};

const isProgress = new Ajv(OWN_RECORDS).compile<StoredProgress>(STORED_PROGRESS);

export function progressHeader(stored: StoredProgress): RecordHeader {
  return [HEADER, Buffer.from(JSON.stringify(stored))];
}

/** Null for a foreign record. */
export function progressIn(record: Pick<NewRecord, 'headers'>): StoredProgress | null {
  const given = headerText(record, HEADER);
  if (given === undefined) return null;
  try {
    const stored: unknown = JSON.parse(given);
    return isProgress(stored) ? stored : null;
  } catch {
    return null;
  }
}
