/** Schemas that several operations have. What each operation alone has stands in its own file. */
import { EVENT_TYPES } from '../webhooks/limits.js';

export const EVENT_TYPE = {
  title: 'EventType',
  description: 'The type of a payment event. A webhook receives the events of one type.',
  enum: EVENT_TYPES,
} as const;

export const TIME = { type: 'string', format: 'date-time' } as const;

/** { success: true, message } */
export const SUCCESS = {
  title: 'Success',
  description: 'The answer to a command that was carried out.',
  type: 'object',
  required: ['success', 'message'],
  properties: {
    success: { const: true, description: 'Always true.' },
    message: { type: 'string', description: 'What was done, for people to read.' },
  },
} as const;

/** { success: false, message, errors? } */
export const ERROR = {
  title: 'Error',
  description: 'The answer to a request that was refused or failed.',
  type: 'object',
  required: ['success', 'message'],
  properties: {
    success: { const: false, description: 'Always false.' },
    message: { type: 'string', description: 'What is wrong, for people to read. It names every field at fault.' },
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
            description: 'The field of the body, the query parameter or the header at fault.',
            examples: ['url', 'headers[0].key', 'isActive', 'Idempotency-Key'],
          },
          message: { type: 'string', description: 'What is wrong with the field, as one sentence that names it.' },
        },
      },
    },
  },
} as const;

/** What became of one request to a receiver. */
export const EXCHANGE = {
  status: {
    type: ['integer', 'null'],
    description: 'The HTTP status of the response. Null if no response came.',
  },
  error: {
    type: ['string', 'null'],
    description:
      'A short code that says why no complete response came, such as `timeout`, `tls` or `connection-refused`; `host` if the name of the host does not resolve, or leads to an address that is not public. Null if the response was complete.',
  },
  durationMs: { type: 'number', minimum: 0, description: 'How long the request took, in milliseconds.' },
} as const;
