/** Validates payment records with ajv and words the reason for a refusal. */
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { type PaymentEvent, type Refused, refused } from './parsed-payment.js';
import {
  binaryCloudEventDataSchema,
  binaryCloudEventHeadersSchema,
  MAX_ID_BYTES,
  NOT_BLANK,
  OWN_SCHEMAS,
  paymentEventSchema,
  structuredCloudEventSchema,
} from './payment-event-schema.js';

interface StructuredCloudEvent {
  readonly id: string;
  readonly source: string;
  readonly type: string;
  readonly accountid?: number | string;
  readonly data?: unknown;
}

/** The schemas give no type where any value is allowed. */
const ajv = new Ajv({ ...OWN_SCHEMAS, strictTypes: false });
// Counted in bytes of UTF-8, not in characters.
ajv.removeKeyword('maxLength');
ajv.addKeyword({
  keyword: 'maxLength',
  type: 'string',
  validate: (max: number, text: string) => Buffer.byteLength(text) <= max,
});

export const isPaymentEvent = ajv.compile<PaymentEvent>(paymentEventSchema);
export const isStructuredCloudEvent = ajv.compile<StructuredCloudEvent>(structuredCloudEventSchema);
export const areCloudEventHeaders = ajv.compile<Readonly<Record<string, string>>>(binaryCloudEventHeadersSchema);
export const isCloudEventData = ajv.compile<{ readonly accountId: number }>(binaryCloudEventDataSchema);

const NO_ACCOUNT = 'data.accountId is missing, and so is the extension accountid';

/** For a check that has just failed. */
export function refusedBy({ errors }: ValidateFunction): Refused {
  // The last error: ajv lists the failures within an anyOf before it.
  const error = errors?.at(-1);
  if (!error) return refused('the record is not valid');
  const place = error.instancePath.slice(1).replaceAll('/', '.');
  const field = error.keyword === 'required' ? `${place && `${place}.`}${error.params.missingProperty}` : place;
  return refused(described(error, field), field);
}

function described({ keyword, message, params }: ErrorObject, field: string): string {
  switch (keyword) {
    case 'required':
      return `${field} is missing`;
    case 'enum':
      return `${field} is not a known event type`;
    case 'const':
      return `${field} is not "1.0"`;
    case 'maxLength':
      return `${field} has more than ${MAX_ID_BYTES} bytes`;
    case 'pattern':
      if (params.pattern === NOT_BLANK.pattern) return `${field} is empty`;
      return `${field} is not a ${field.endsWith('type') ? 'known event type' : 'whole number'}`;
    case 'anyOf':
      return field === '' ? NO_ACCOUNT : `${field} is not a whole number`;
    case 'not':
      return 'data and data_base64 are both present';
    default:
      return `${field || 'the record'} ${message}`;
  }
}
