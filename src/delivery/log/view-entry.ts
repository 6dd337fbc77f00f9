/** Converts records of the deliveries and the requests topic to entries of the view. */
import { Ajv } from 'ajv';
import type { ReceivedRecord } from '../../ports/broker.js';
import type { EntryPlace, ViewEntry, ViewRouting } from '../../ports/deliveries-view.js';
import { OUTCOMES, REMOVAL } from '../../ports/delivery-order.js';
import { entriesOfRequest } from '../again/request.js';
import { OWN_SCHEMAS } from '../payment/payment-event-schema.js';
import { firstAtOf } from '../record-place.js';
import { type DeliveryLogEntry, type LoggedAttempt, type RoutedEntry, readLogRecord } from './log-record.js';

const TIME = { type: 'string', pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$' };
const WHOLE = { type: 'integer', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER };
const TEXT = { type: 'string' };
const orNull = (schema: object) => ({ anyOf: [schema, { type: 'null' }] });

const ATTEMPT = {
  type: 'object',
  required: ['at', 'status', 'error', 'durationMs', 'version'],
  properties: {
    at: TIME,
    status: orNull(WHOLE),
    error: orNull(TEXT),
    reason: orNull(TEXT),
    durationMs: { type: 'number', minimum: 0 },
    version: WHOLE,
    trigger: TEXT,
    actor: TEXT,
    response: TEXT,
  },
};

const EVENT = { eventId: TEXT, eventSource: TEXT, eventType: TEXT };

/** Checks only the fields that the view shows; later releases may add others. */
const schema = {
  type: 'object',
  required: [
    ...['id', 'eventId', 'eventType', 'accountId', 'webhookId', 'webhookEvent'],
    ...['outcome', 'chain', 'attempts', 'attempt', 'nextAttemptAt'],
  ],
  properties: {
    ...EVENT,
    id: { ...TEXT, pattern: '^[!-~]{1,128}$' },
    accountId: WHOLE,
    webhookId: WHOLE,
    webhookEvent: TEXT,
    payment: TEXT,
    outcome: { enum: OUTCOMES },
    attempt: orNull(ATTEMPT),
    chain: { ...WHOLE, minimum: 0 },
    attempts: { ...WHOLE, minimum: 0 },
    nextAttemptAt: orNull(TIME),
    held: { type: 'boolean' },
    endedBy: { const: REMOVAL },
    step: WHOLE,
    recovery: TEXT,
  },
};

const routedSchema = { type: 'object', required: ['eventId', 'eventType'], properties: EVENT };

const ajv = new Ajv(OWN_SCHEMAS);
const isDelivery = ajv.compile<DeliveryLogEntry>(schema);
const isRouted = ajv.compile<RoutedEntry>(routedSchema);

/** @param record of the requests topic */
export function requestedEntries(record: ReceivedRecord): ViewEntry[] {
  const { partition, offset, timestamp } = record;
  const place = { partition, offset, timestamp };
  return entriesOfRequest(record)
    .filter((entry) => isDelivery(entry))
    .map((entry) => deliveryOf(entry, place));
}

export function viewEntries(record: ReceivedRecord): (ViewEntry | ViewRouting)[] {
  const { partition, offset, timestamp } = record;
  const place = { partition, offset, timestamp };
  const { deliveries, routed } = readLogRecord(record);
  return [
    ...routed.flatMap((entry, index) => (isRouted(entry) ? [routingOf(entry, place, index)] : [])),
    ...deliveries.filter((entry) => isDelivery(entry)).map((entry) => deliveryOf(entry, place)),
  ];
}

function routingOf(entry: RoutedEntry, place: EntryPlace, index: number): ViewRouting {
  const { payment, accountId, eventId, eventSource = null, eventType, webhooks } = entry;
  const event = { accountId, eventId, eventSource, eventType, firstAt: firstAtOf(payment) };
  return { kind: 'routed', ...event, payment, webhooks, place, index };
}

function deliveryOf(entry: DeliveryLogEntry, place: EntryPlace): ViewEntry {
  const { id, eventId, eventSource = null, eventType, accountId, webhookId, webhookEvent, payment = null } = entry;
  const { outcome, chain, attempts, nextAttemptAt, attempt: made } = entry;
  const { held = false, endedBy = null, step = null, recovery = null } = entry;
  const { response = null, ...attempt } = made ?? {};
  return {
    ...{ kind: 'delivery', id, eventId, eventSource, eventType, accountId, webhookId, webhookEvent, payment },
    ...{ firstAt: firstAtOf(payment ?? undefined), outcome, chain, attempts, nextAttemptAt, place },
    ...{ attempt: made && (attempt as LoggedAttempt), response, held, endedBy, step, recovery },
  };
}
