/** Schemas shared by several operations. Each operation's own schemas are in its file. */
import { FAILURE_REASONS } from '../endpoints/failure.js';
import { EVENT_TYPES } from '../webhooks/limits.js';

export const EVENT_TYPE = {
  title: 'EventType',
  description: 'The type of a payment event. A webhook receives the events of one type.',
  enum: EVENT_TYPES,
} as const;

export const TIME = { type: 'string', format: 'date-time' } as const;
export const TIME_OR_NULL = { ...TIME, type: ['string', 'null'] } as const;

/** @param ms since the epoch */
export function timeText<T extends number | null>(ms: T): string | (null & T) {
  return ms === null ? (null as null & T) : new Date(ms).toISOString();
}

export const SUCCESS = {
  title: 'Success',
  description: 'The response to a command that succeeded.',
  type: 'object',
  required: ['success', 'message'],
  properties: {
    success: { const: true, description: 'Always true.' },
    message: { type: 'string', description: 'A human-readable summary of what was done.' },
  },
} as const;

export const COUNT = { type: 'integer', minimum: 0 } as const;

export function counted(name: string, describes: object) {
  return {
    ...SUCCESS,
    title: `Success${name[0]?.toUpperCase()}${name.slice(1)}`,
    required: [...SUCCESS.required, name],
    properties: { ...SUCCESS.properties, [name]: describes },
  } as const;
}

export const ERROR = {
  title: 'Error',
  description: 'The response to a request that was refused or failed.',
  type: 'object',
  required: ['success', 'message'],
  properties: {
    success: { const: false, description: 'Always false.' },
    message: {
      type: 'string',
      description: 'A human-readable description of the problem. It names every invalid field.',
    },
    errors: {
      type: 'array',
      description: 'One entry for each problem with a field. Absent if the error is not about fields.',
      items: {
        title: 'FieldError',
        description: 'A problem with one field of the request.',
        type: 'object',
        required: ['field', 'message'],
        properties: {
          field: {
            type: 'string',
            description: 'The invalid field of the body, query parameter or header.',
            examples: ['url', 'headers[0].key', 'isActive', 'Idempotency-Key'],
          },
          message: { type: 'string', description: 'The problem with the field, as one sentence that names the field.' },
        },
      },
    },
  },
} as const;

const REASONS = Object.entries(FAILURE_REASONS)
  .map(([reason, sentence]) => `\`${reason}\`: ${sentence}.`)
  .join(' ');

/** How much of a receiver's answer is shown, wherever it is. */
export const RESPONSE_TEXT =
  'the first 1,024 bytes of the body of the response, as they were sent; content codings are not undone, and bytes that are not UTF-8 are replaced by U+FFFD.';

/** The result of one request to a receiver. `reason` stands beside an error only. */
export const EXCHANGE = {
  status: {
    type: ['integer', 'null'],
    description: 'The HTTP status of the response, whatever happened to its body. Null if none came.',
  },
  error: {
    type: ['string', 'null'],
    description:
      'A short code that says why no status came, such as `timeout`, `tls` or `connection-refused`; `host` if the host name does not resolve or resolves to a non-public address. Null if a status came.',
  },
  reason: {
    type: ['string', 'null'],
    enum: [...Object.keys(FAILURE_REASONS), null],
    description: `Beside an error: its cause. Null if nothing more is known or may be said. ${REASONS}`,
  },
  durationMs: {
    type: 'number',
    minimum: 0,
    description: 'The time from the name lookup to the status and headers, in milliseconds.',
  },
} as const;
