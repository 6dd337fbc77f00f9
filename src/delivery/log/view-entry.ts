/** Converts a record of the deliveries topic to entries of the view. */
import { Ajv } from 'ajv';
import { OWN_SCHEMAS } from '../../own-schemas.js';
import type { ReceivedRecord } from '../../ports/broker.js';
import type { ViewEntry, ViewRouting } from '../../ports/deliveries-view.js';
import { OUTCOMES } from '../../ports/delivery-order.js';
import { firstAtOf } from '../record-place.js';
import { type DeliveryLogEntry, type LoggedAttempt, readLogRecord } from './log-record.js';

const TIME = { type: 'string', pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$' };
const WHOLE = { type: 'integer', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER };
const NULL = { type: 'null' };

/** Checks only the fields that the view shows; later releases may add others. */
const schema = {
  type: 'object',
  required: ['id', 'eventId', 'eventType', 'accountId', 'webhookId', 'outcome', 'attempt', 'nextAttemptAt'],
  properties: {
    id: { type: 'string', pattern: '^[!-~]{1,128}$' },
    eventId: { type: 'string' },
    eventType: { type: 'string' },
    accountId: WHOLE,
    webhookId: WHOLE,
    outcome: { enum: OUTCOMES },
    attempt: {
      anyOf: [
        NULL,
        {
          type: 'object',
          required: ['at', 'status', 'error', 'durationMs', 'version'],
          properties: {
            at: TIME,
            status: { anyOf: [WHOLE, NULL] },
            error: { anyOf: [{ type: 'string' }, NULL] },
            reason: { anyOf: [{ type: 'string' }, NULL] },
            durationMs: { type: 'number', minimum: 0 },
            version: WHOLE,
          },
        },
      ],
    },
    turn: { ...WHOLE, minimum: 0 },
    nextAttemptAt: { anyOf: [TIME, NULL] },
  },
};

const validate = new Ajv(OWN_SCHEMAS).compile<DeliveryLogEntry>(schema);

export function viewEntries(record: ReceivedRecord): (ViewEntry | ViewRouting)[] {
  const { partition, offset, timestamp } = record;
  const place = { partition, offset, timestamp };
  return readLogRecord(record).deliveries.flatMap((entry: unknown) => {
    if (!validate(entry)) return [];
    const { id, eventId, eventType, accountId, webhookId, payment = null, outcome, turn, nextAttemptAt } = entry;
    const about = { kind: 'delivery', id, eventId, eventType, accountId, webhookId, payment } as const;
    const { attempt: made, held = false, step = null, recovery = null, webhookEvent } = entry;
    const { response = null, ...attempt } = made ?? {};
    return [
      {
        ...{ ...about, firstAt: firstAtOf(payment ?? undefined), outcome, turn, nextAttemptAt, place },
        ...{ attempt: made && (attempt as LoggedAttempt), response, held, step, recovery, webhookEvent },
      },
    ];
  });
}
