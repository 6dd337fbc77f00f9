/** The schemas of a payment event in its three forms: ajv validates with them, and asyncapi.json shows them. */
import { EVENT_TYPES } from '../webhooks/limits.js';
import { describeEventTypes } from './event-descriptions.js';

/** Of ajv, for our own schemas, which tests check: with the meta-schema in each instance a `serve` start took 0.15 of 0.88 s more. */
export const OWN_SCHEMAS = { meta: false, validateSchema: false } as const;

/**
 * Of ajv, for JSON that the service writes to its topics and reads again. Others may write to them, too: what the schema does not
 * describe is deleted, because JSON.stringify throws for values that are nested too deeply, at each redelivery of the record.
 */
export const OWN_RECORDS = { ...OWN_SCHEMAS, allowUnionTypes: true, removeAdditional: 'all' } as const;

const ACCOUNT_ID = {
  type: 'integer',
  minimum: Number.MIN_SAFE_INTEGER,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'The account whose webhooks get the event.',
} as const;

const DECIMAL = { type: 'string', pattern: '^(0|-?[1-9][0-9]{0,15})$' } as const;

const EVENT_TYPE = {
  enum: EVENT_TYPES,
  description: `The event type that webhooks are registered for. ${describeEventTypes()}`,
} as const;

const PREFIXED_TYPE = {
  type: 'string',
  pattern: `^([A-Za-z0-9_-]+\\.)*(${EVENT_TYPES.join('|')})$`,
  description: 'An event type, with or without a reverse-DNS prefix.',
  examples: ['com.example.payments.cash_in'],
} as const;

/** Id and source are kept in every log entry and retry record of a delivery. Counted in UTF-8. */
export const MAX_ID_BYTES = 1_024;
export const NOT_BLANK = { type: 'string', pattern: '\\S', maxLength: MAX_ID_BYTES } as const;
const SPEC_VERSION = { type: 'string', const: '1.0', description: 'The version of CloudEvents.' } as const;
const ID = {
  ...NOT_BLANK,
  description: 'The id of the event within its source: at most 1,024 bytes in UTF-8.',
} as const;
const SOURCE = {
  ...NOT_BLANK,
  description: 'A URI reference of at most 1,024 bytes. Source and id together are the identity of the event.',
} as const;
const ACCOUNT_EXTENSION = {
  anyOf: [ACCOUNT_ID, DECIMAL],
  description: 'Extension: the account, if data has no accountId.',
} as const;

const READ_OF_DATA =
  'The service reads its amount and its reference, where it has them: EVENT_SCHEMAS names their fields.';

export const paymentEventSchema = {
  type: 'object',
  required: ['id', 'type', 'accountId'],
  properties: {
    id: { ...NOT_BLANK, description: 'The identity of the event within its account: at most 1,024 bytes in UTF-8.' },
    type: EVENT_TYPE,
    accountId: ACCOUNT_ID,
    timestamp: { description: 'When the payment happened, in ISO 8601 by convention. The service does not read it.' },
    data: { description: `Any value. ${READ_OF_DATA}` },
  },
} as const;

/** A CloudEvent in structured mode: https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/formats/json-format.md */
export const structuredCloudEventSchema = {
  type: 'object',
  required: ['specversion', 'id', 'source', 'type'],
  properties: {
    specversion: SPEC_VERSION,
    id: ID,
    source: SOURCE,
    type: PREFIXED_TYPE,
    accountid: ACCOUNT_EXTENSION,
    data: {
      properties: { accountId: ACCOUNT_ID },
      description: `Any value. If it is an object, the service reads its accountId. ${READ_OF_DATA}`,
    },
    data_base64: { type: 'string', description: 'Binary data in place of data. The service does not read it.' },
  },
  not: { required: ['data', 'data_base64'] },
  anyOf: [
    { properties: { data: { type: 'object', required: ['accountId'] } }, required: ['data'] },
    { required: ['accountid'] },
  ],
} as const;

/** The headers of a CloudEvent in binary mode; further ce_ headers are extensions. */
export const binaryCloudEventHeadersSchema = {
  type: 'object',
  required: ['ce_specversion', 'ce_id', 'ce_source', 'ce_type'],
  properties: {
    ce_specversion: SPEC_VERSION,
    ce_id: ID,
    ce_source: SOURCE,
    ce_type: PREFIXED_TYPE,
    ce_accountid: {
      ...DECIMAL,
      description: 'Extension: the account. Without this header the value must have an accountId.',
    },
  },
} as const;

/** The value of a CloudEvent in binary mode without ce_accountid; with it the value may be anything or missing. */
export const binaryCloudEventDataSchema = {
  type: 'object',
  required: ['accountId'],
  properties: { accountId: ACCOUNT_ID },
} as const;
