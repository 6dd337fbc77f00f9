/** A payment record's value, { id, type, accountId, ... }: only these three are looked at, the bytes go out as they are. */
import { isUtf8 } from 'node:buffer';
import { Ajv } from 'ajv';
import { EVENT_TYPES, type EventType } from '../webhooks/limits.js';

export const MAX_PAYMENT_BYTES = 256 * 1024;

export interface PaymentEvent {
  readonly id: string;
  readonly type: EventType;
  readonly accountId: number;
}

export type ParsedPayment =
  | { readonly ok: true; readonly event: PaymentEvent }
  | { readonly ok: false; readonly reason: string };

export const paymentEventSchema = {
  type: 'object',
  required: ['id', 'type', 'accountId'],
  properties: {
    id: { type: 'string' },
    type: { enum: EVENT_TYPES },
    accountId: { type: 'integer', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER },
  },
} as const;

const validate = new Ajv().compile<PaymentEvent>(paymentEventSchema);

/** Never throws; the reason names what is wrong, and not the value. */
export function parsePaymentEvent(value: Buffer | null): ParsedPayment {
  if (value === null || value.length === 0) return refused('the record has no value');
  if (value.length > MAX_PAYMENT_BYTES) return refused(`the record has more than ${MAX_PAYMENT_BYTES} bytes`);
  if (!isUtf8(value)) return refused('the record is not UTF-8');
  let event: unknown;
  try {
    event = JSON.parse(value.toString('utf8'));
  } catch {
    return refused('the record is not JSON');
  }
  if (validate(event)) return { ok: true, event };
  const error = validate.errors?.[0];
  if (error?.keyword === 'required') return refused(`${error.params.missingProperty} is missing`);
  const field = error?.instancePath.slice(1) || 'the record';
  return refused(error?.keyword === 'enum' ? `${field} is not a known event type` : `${field} ${error?.message}`);
}

function refused(reason: string): ParsedPayment {
  return { ok: false, reason };
}
