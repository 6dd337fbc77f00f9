/** The requests that receivers get, for `webhooks` of /openapi.json. docs/receivers.md says the same for people. */
import {
  countOrNull,
  id,
  object,
  oneOf,
  optional,
  type Schema,
  text,
  textOrNull,
  time,
  timeOrNull,
  whole,
} from '../../schema.js';
import { EVENT_TYPE, LAST_FAILURE } from '../shared-schemas.js';

/** Only id, type and accountId are checked before an event is delivered. */
export const PAYMENT_EVENT = object(
  'PaymentEvent',
  'A payment event, byte for byte as it was published. It may have more fields.',
  {
    id: text('The id that the payment system assigned to the event. The id of a test event begins with `test_`.'),
    type: EVENT_TYPE,
    accountId: id('The account that the payment belongs to.'),
    timestamp: optional(
      text('When the event happened, as the payment system wrote it. The service does not check this field.', {
        examples: ['2026-11-21T09:00:00Z'],
      }),
    ),
    data: optional({
      type: 'object',
      description: 'The payment itself, unchecked. A test event has `{"test": true}`.',
    }),
  },
);

/** An example where each request has the header. */
const HEADERS: readonly (readonly [name: string, description: string, example?: string | number])[] = [
  ['webhook-id', 'The id of the delivery, the same on every attempt.', 'msg_iLy7tuwrcVjLgePj64nomSZ0ZmZ'],
  ['webhook-timestamp', 'When this attempt was made, in seconds since 1970-01-01T00:00:00Z.', 1795251600],
  [
    'webhook-signature',
    'Standard Webhooks: `v1,` and the base64 HMAC-SHA256 of `{webhook-id}.{webhook-timestamp}.{body}`; two during a rotation, with a space between.',
    'v1,esPlF52OnZmJycHRMjnnp9hHl8bvhLIkGBWG9fFHkVE=',
  ],
  ['user-agent', 'Names the sender.', 'account-webhooks'],
  ['traceparent', 'The W3C trace context of a payment that has one. The signature does not cover it.'],
  ['tracestate', 'Accompanies `traceparent`.'],
];

const PARAMETERS = HEADERS.map(([name, description, example]) => {
  const schema = { type: typeof example === 'number' ? 'integer' : 'string' };
  return { name, in: 'header', required: example !== undefined, description, schema, example };
});

const RESPONSES = {
  '2XX': { description: 'Accepted. The service ignores the response body.' },
  '410': { description: 'A webhook is deactivated; a notice is not sent again.' },
  default: {
    description:
      'Sent again later, as after a timeout; after 429 and 503 not before `Retry-After`, seconds or an HTTP date, of which at most the longest delay of the schedule applies. Redirects are not followed.',
  },
};

/** The operation is the receiver's, so it has no security scheme of ours and answers with any status. */
function received(schema: Schema, operation: Schema): Schema {
  const requestBody = { required: true, content: { 'application/json': { schema } } };
  return { post: { ...operation, security: [], parameters: PARAMETERS, requestBody, responses: RESPONSES } };
}

export const PAYMENT_EVENT_WEBHOOK = received(PAYMENT_EVENT, {
  operationId: 'receivePaymentEvent',
  tags: ['Payment events'],
  summary: 'Receive a payment event',
  description:
    'The service sends each payment event to every active webhook of its account and type, as it was published, up to 256 KiB. An event arrives at least once and in no particular order: store each `webhook-id`, and answer 2xx to one that you have seen. Verify `webhook-signature` over the bytes of the body before you parse them. A delivery is retried on a schedule until it succeeds or the schedule ends. The request also has the headers that the webhook was registered with.',
});

const NOTICE_DATA = object('NoticeData', 'The webhook, and what happened to it.', {
  webhookId: whole('The id of the webhook.'),
  eventType: EVENT_TYPE,
  url: text('The URL of the webhook.'),
  since: timeOrNull('The first failure after the last success. Null if there is none.'),
  lastFailure: LAST_FAILURE,
  waiting: countOrNull(
    'Deliveries that wait for another attempt. New ones that have not been attempted or deferred yet are not counted. Null if unknown.',
  ),
  held: countOrNull('Deliveries that are held until the webhook is active again. Null if unknown.'),
  deactivatesAt: timeOrNull('When the webhook is deactivated unless it accepts a delivery. Null: never.'),
  reason: textOrNull('Why, in words.'),
});

const NOTICE = object('Notice', 'What an account is told about one of its webhooks.', {
  id: text('The id of the notice, also its `webhook-id`.'),
  type: oneOf(
    ['webhook_failing', 'webhook_recovered', 'webhook_deactivated'],
    '`webhook_failing`: its URL has accepted nothing for 10 minutes, and again an hour before the webhook is deactivated. `webhook_recovered`: the URL accepted a delivery again, and had not been deactivated meanwhile. `webhook_deactivated`: the service deactivated the webhook.',
  ),
  accountId: whole('The account.'),
  timestamp: time('When it happened. Notices may arrive in another order.'),
  data: NOTICE_DATA,
});

export const NOTICE_WEBHOOK = received(NOTICE, {
  operationId: 'receiveNotice',
  tags: ['Notices'],
  summary: 'Receive a notice',
  description:
    'The service sends the notices of an account to its notice URL, signed and retried like payment events: on changes only, at least once, and in no particular order. A test notice has the type `test`, an id that begins with `test_` and the data `{"test": true}`; it is not retried.',
});
