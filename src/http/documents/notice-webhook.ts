/** The request that a notice URL gets, for `webhooks` of /openapi.json. delivery/notices/notice.ts makes its body. */

import type { Schema, Tag } from '../operation.js';
import { EVENT_TYPE, TIME } from '../shared-schemas.js';
import { LAST_FAILURE } from '../webhooks/webhooks-health.js';
import { RETRIED, SENDER_HEADERS } from './payment-event-webhook.js';

const TAG: Tag = 'Notices';
const OR_NULL = { ...TIME, type: ['string', 'null'] };
const COUNT = { type: ['integer', 'null'], minimum: 0 };

const NOTICE_DATA = {
  webhookId: { type: 'integer', description: 'The id of the webhook.' },
  eventType: EVENT_TYPE,
  url: { type: 'string', description: 'The URL of the webhook.' },
  since: { ...OR_NULL, description: 'The first failure after the last success. Null if there is none.' },
  lastFailure: LAST_FAILURE,
  waiting: { ...COUNT, description: 'Deliveries that wait for their next attempt. Null if unknown.' },
  held: { ...COUNT, description: 'Deliveries that are held until the webhook is active again. Null if unknown.' },
  deactivatesAt: {
    ...OR_NULL,
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
    tags: [TAG],
    summary: 'Receive a notice',
    description:
      'The service sends the notices of an account to its notice URL, signed and retried like payment events: on changes only, at least once, and in no particular order.',
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
