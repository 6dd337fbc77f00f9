/** The requests that receivers get, for `webhooks` of /openapi.json. docs/receivers.md says the same for people. */
import type { Parameter, Schema, Tag } from '../operation.js';
import { EVENT_TYPE, TIME, TIME_OR_NULL } from '../shared-schemas.js';
import { LAST_FAILURE } from '../webhooks/webhooks-health.js';

/** Only id, type and accountId are checked before an event is delivered. */
export const PAYMENT_EVENT: Schema = {
  title: 'PaymentEvent',
  description: 'A payment event, byte for byte as the payment system published it. It may have more fields than these.',
  type: 'object',
  required: ['id', 'type', 'accountId'],
  properties: {
    id: {
      type: 'string',
      description: 'The id that the payment system assigned to the event. The id of a test event begins with `test_`.',
    },
    type: EVENT_TYPE,
    accountId: {
      type: 'integer',
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'The account that the payment belongs to.',
    },
    timestamp: {
      type: 'string',
      description: 'When the event happened, as the payment system wrote it. The service does not check this field.',
      examples: ['2026-11-21T09:00:00Z'],
    },
    data: {
      type: 'object',
      description:
        'The payment itself, as the payment system wrote it. The service does not check this field. A test event has `{"test": true}`.',
    },
  },
};

const SENDER_HEADERS: readonly Schema[] = [
  header('webhook-id', 'The id of the delivery, the same on every attempt.', {
    schema: { type: 'string' },
    example: 'msg_iLy7tuwrcVjLgePj64nomSZ0ZmZ',
  }),
  header('webhook-timestamp', 'When this attempt was made, in seconds since 1970-01-01T00:00:00Z.', {
    schema: { type: 'integer' },
    example: 1795251600,
  }),
  header(
    'webhook-signature',
    'Standard Webhooks signatures: `v1,` and the base64 HMAC-SHA256 of `{webhook-id}.{webhook-timestamp}.{body}`. During a rotation of the secret there are two, with a space between them.',
    { schema: { type: 'string' }, example: 'v1,esPlF52OnZmJycHRMjnnp9hHl8bvhLIkGBWG9fFHkVE=' },
  ),
  header('user-agent', 'Names the sender.', { schema: { const: 'account-webhooks' } }),
];

const RETRIED: Schema = {
  '429': retriedLater('Too many requests.'),
  '503': retriedLater('The receiver is not available.'),
  default: {
    description:
      'The delivery is retried. Redirects are not followed, and no response within the timeout counts as a failure too.',
  },
};

/** The operation is the receiver's, so it has no security scheme of ours and answers with any status. */
export const PAYMENT_EVENT_WEBHOOK: Schema = {
  post: {
    operationId: 'receivePaymentEvent',
    tags: ['Payment events' satisfies Tag],
    summary: 'Receive a payment event',
    description:
      'The service sends each payment event to every active webhook of its account and type. An event arrives at least once and in no particular order: store each `webhook-id`, and answer 2xx to one that you have seen. Verify `webhook-signature` over the bytes of the body before you parse them. A delivery is retried on a schedule until it succeeds or the schedule ends. The request also has the headers that the webhook was registered with.',
    security: [],
    parameters: [
      ...SENDER_HEADERS,
      header('traceparent', 'The W3C trace context of the payment, if it has one. The signature does not cover it.', {
        required: false,
        schema: { type: 'string' },
      }),
      header('tracestate', 'Accompanies `traceparent`. The signature does not cover it.', {
        required: false,
        schema: { type: 'string' },
      }),
    ],
    requestBody: {
      required: true,
      description: 'The event as it was published, up to 256 KiB.',
      content: { 'application/json': { schema: PAYMENT_EVENT } },
    },
    responses: {
      '2XX': { description: 'The event is delivered. The service ignores the response body.' },
      '410': { description: 'The webhook is deactivated. It receives no more events until it is active again.' },
      ...RETRIED,
    },
  },
};

function header(name: string, description: string, rest: Omit<Schema, 'name'>): Schema & Pick<Parameter, 'name'> {
  return { name, in: 'header', required: true, description, ...rest };
}

function retriedLater(reason: string): Schema {
  const description =
    'How long to wait, in seconds or as an HTTP date. At most the longest delay of the schedule applies.';
  return {
    description: `${reason} The delivery is retried, not before Retry-After.`,
    headers: { 'Retry-After': { description, schema: { type: 'string' } } },
  };
}

const COUNT = { type: ['integer', 'null'], minimum: 0 };

const NOTICE_DATA = {
  webhookId: { type: 'integer', description: 'The id of the webhook.' },
  eventType: EVENT_TYPE,
  url: { type: 'string', description: 'The URL of the webhook.' },
  since: { ...TIME_OR_NULL, description: 'The first failure after the last success. Null if there is none.' },
  lastFailure: LAST_FAILURE,
  waiting: { ...COUNT, description: 'Deliveries that wait for their next attempt. Null if unknown.' },
  held: { ...COUNT, description: 'Deliveries that are held until the webhook is active again. Null if unknown.' },
  deactivatesAt: {
    ...TIME_OR_NULL,
    description: 'When the webhook is deactivated unless it accepts a delivery. Null: never.',
  },
  reason: { type: ['string', 'null'], description: 'Why, in words.' },
};

const NOTICE: Schema = {
  title: 'Notice',
  description: 'What an account is told about one of its webhooks.',
  type: 'object',
  required: ['id', 'type', 'accountId', 'timestamp', 'data'],
  properties: {
    id: { type: 'string', description: 'The id of the notice, also its `webhook-id`.' },
    type: {
      enum: ['webhook_failing', 'webhook_recovered', 'webhook_deactivated'],
      description:
        '`webhook_failing`: its URL has accepted nothing for 10 minutes, and again an hour before the webhook is deactivated. `webhook_recovered`: the URL accepted a delivery again. `webhook_deactivated`: the service deactivated the webhook.',
    },
    accountId: { type: 'integer', description: 'The account.' },
    timestamp: { ...TIME, description: 'When it happened. Notices may arrive in another order.' },
    data: {
      title: 'NoticeData',
      description: 'The webhook, and what happened to it.',
      type: 'object',
      required: Object.keys(NOTICE_DATA),
      properties: NOTICE_DATA,
    },
  },
};

export const NOTICE_WEBHOOK: Schema = {
  post: {
    operationId: 'receiveNotice',
    tags: ['Notices' satisfies Tag],
    summary: 'Receive a notice',
    description:
      'The service sends the notices of an account to its notice URL, signed and retried like payment events: on changes only, at least once, and in no particular order. A test notice has the type `test`, an id that begins with `test_` and the data `{"test": true}`; it is not retried.',
    security: [],
    parameters: SENDER_HEADERS,
    requestBody: { required: true, content: { 'application/json': { schema: NOTICE } } },
    responses: {
      '2XX': { description: 'The notice is delivered.' },
      '410': { description: 'The notice is not sent again.' },
      ...RETRIED,
    },
  },
};
