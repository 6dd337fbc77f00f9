/** Converts a record of the deliveries topic to entries of the view. */
import { Ajv } from 'ajv';
import type { ReceivedRecord } from '../../ports/broker.js';
import type { EntryPlace, ViewEntry, ViewRouting } from '../../ports/deliveries-view.js';
import { OUTCOMES, REMOVAL } from '../../ports/delivery-order.js';
import { OWN_SCHEMAS } from '../payment/payment-event-schema.js';
import { firstAtOf } from '../record-place.js';
import { type DeliveryLogEntry, type LoggedAttempt, type RoutedEntry, readLogRecord } from './log-record.js';

const TIME = { type: 'string', pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$' };
const WHOLE = { type: 'integer', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER };
const NULL = { type: 'null' };

const text = (pattern: string) => ({ type: 'string', pattern });
const orNull = (schema: object) => ({ anyOf: [schema, NULL] });

const ATTEMPT = {
  type: 'object',
  required: ['at', 'status', 'error', 'durationMs', 'version'],
  properties: {
    at: TIME,
    status: orNull(WHOLE),
    error: orNull({ type: 'string' }),
    reason: orNull({ type: 'string' }),
    durationMs: { type: 'number', minimum: 0 },
    version: WHOLE,
    trigger: { type: 'string' },
    actor: { type: 'string' },
    response: { type: 'string' },
  },
};

const EVENT = { eventId: { type: 'string' }, eventSource: { type: 'string' }, eventType: { type: 'string' } };

/** Checks only the fields that the view shows; later releases may add others. */
const schema = {
  type: 'object',
  required: [
    'id',
    'eventId',
    'eventType',
    'accountId',
    'webhookId',
    'webhookEvent',
    'outcome',
    'attempt',
    'nextAttemptAt',
  ],
  properties: {
    ...EVENT,
    id: text('^[!-~]{1,128}$'),
    accountId: WHOLE,
    webhookId: WHOLE,
    webhookEvent: { type: 'string' },
    payment: { type: 'string' },
    outcome: { enum: OUTCOMES },
    attempt: orNull(ATTEMPT),
    turn: { ...WHOLE, minimum: 0 },
    nextAttemptAt: orNull(TIME),
    held: { type: 'boolean' },
    endedBy: { const: REMOVAL },
    step: WHOLE,
    recovery: { type: 'string' },
    before: {
      type: 'object',
      required: ['outcome', 'turn'],
      properties: {
        outcome: { enum: OUTCOMES.filter((outcome) => outcome !== 'retrying') },
        held: { type: 'boolean' },
        turn: { ...WHOLE, minimum: 0 },
      },
    },
  },
};

const routedSchema = { type: 'object', required: ['eventId', 'eventType'], properties: EVENT };

const ajv = new Ajv(OWN_SCHEMAS);
const isDelivery = ajv.compile<DeliveryLogEntry>(schema);
const isRouted = ajv.compile<RoutedEntry>(routedSchema);

export function viewEntries(record: ReceivedRecord): (ViewEntry | ViewRouting)[] {
  const { partition, offset, timestamp } = record;
  const place = { partition, offset, timestamp };
  const { deliveries, routed } = readLogRecord(record);
  return [
    ...routed.flatMap((entry, index) => (isRouted(entry) ? [routingOf(entry, place, index)] : [])),
    ...deliveries.filter((entry) => isDelivery(entry)).map((entry) => deliveryOf(entry, place)),
  ];
}

function routingOf(
  { payment, accountId, eventId, eventType, ...entry }: RoutedEntry,
  place: EntryPlace,
  index: number,
): ViewRouting {
  const { eventSource = null, webhooks } = entry;
  const about = { accountId, eventId, eventSource, eventType, firstAt: firstAtOf(payment) };
  return { kind: 'routed', ...about, payment, webhooks, place, index };
}

function deliveryOf(entry: DeliveryLogEntry, place: EntryPlace): ViewEntry {
  const { id, eventId, eventType, accountId, webhookId, payment = null, outcome, turn, nextAttemptAt } = entry;
  const about = { kind: 'delivery', id, eventId, eventType, accountId, webhookId, payment } as const;
  const {
    attempt: made,
    held = false,
    endedBy = null,
    step = null,
    recovery = null,
    before = null,
    webhookEvent,
  } = entry;
  const { response = null, ...attempt } = made ?? {};
  return {
    ...{ ...about, firstAt: firstAtOf(payment ?? undefined), outcome, turn, nextAttemptAt, place },
    ...{ attempt: made && (attempt as LoggedAttempt), response, held, endedBy, step, recovery, before, webhookEvent },
  };
}
