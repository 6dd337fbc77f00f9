/** GET /api/webhooks/{id}/deliveries: the state of a webhook's deliveries, page by page, newest first. */
import type { Context } from 'koa';
import type { DeliveriesPage, DeliveriesQuery, DeliveryPlace } from '../ports/deliveries-view.js';
import { OUTCOMES } from '../ports/delivery-order.js';
import type { Reading } from './list-webhooks.js';
import { type Operation, type Parameter, refusal, WEBHOOK_ID, WEBHOOK_NOT_FOUND } from './operation.js';
import type { OwnWebhook } from './own-webhook.js';
import { BASE64URL, MOST_IN_A_PAGE, PAGE_SIZE, pageQuery } from './page-query.js';
import { callerOf } from './request-context.js';
import { EXCHANGE, TIME } from './shared-schemas.js';
import { shownFailure } from './shown-failure.js';

const OUTCOME = {
  title: 'DeliveryOutcome',
  description:
    '`delivered`: the receiver answered 2xx. `retrying`: another attempt follows. `exhausted`: delivery was given up and the event is kept as a dead letter, because the last attempt failed, its time limit passed, or the service deactivated the webhook (410, or no successful delivery for too long). `cancelled`: the account deactivated or removed the webhook.',
  enum: OUTCOMES,
} as const;

const ATTEMPT = {
  title: 'Attempt',
  description: 'One HTTPS request of a delivery.',
  type: 'object',
  required: ['at', 'status', 'error', 'durationMs', 'version'],
  properties: {
    at: { ...TIME, description: 'When the request began.' },
    ...EXCHANGE,
    version: {
      type: 'integer',
      description:
        'The version of the webhook that was used: 1 when it was first registered, one more after each update.',
    },
  },
} as const;

const deliveriesSchema = {
  title: 'DeliveryPage',
  description: 'A page of the deliveries of a webhook.',
  type: 'object',
  required: ['deliveries', 'next'],
  properties: {
    deliveries: {
      type: 'array',
      description: 'The deliveries of this page, newest first.',
      items: {
        title: 'Delivery',
        description: 'One payment event on its way to one webhook.',
        type: 'object',
        required: ['id', 'eventId', 'outcome', 'attempts', 'nextAttemptAt'],
        properties: {
          id: { type: 'string', description: 'The id of the delivery, which the receiver gets as `webhook-id`.' },
          eventId: { type: 'string', description: 'The id of the payment event.' },
          outcome: OUTCOME,
          attempts: { type: 'array', description: 'The attempts so far, oldest first.', items: ATTEMPT },
          nextAttemptAt: {
            type: ['string', 'null'],
            format: 'date-time',
            description: 'When the next attempt is due. Null if none is planned.',
          },
        },
      },
    },
    next: {
      type: ['string', 'null'],
      description:
        'Pass as `before` to get the next page. Null on the last page: a page with a `next` may be shorter than `limit`, or empty, if few deliveries have the outcome that was asked for.',
    },
  },
} as const;

const PARAMETERS: readonly Parameter[] = [
  WEBHOOK_ID,
  query('limit', 'The maximum number of deliveries on a page.', {
    type: 'integer',
    minimum: 1,
    maximum: MOST_IN_A_PAGE,
    default: PAGE_SIZE,
  }),
  query('before', 'The `next` of the previous page.', { type: 'string', pattern: BASE64URL.source }),
  query('outcome', 'Only deliveries with this outcome.', OUTCOME),
  query('from', 'Only deliveries of events that were published at this time (ISO 8601) or later.', TIME),
  query('to', 'Only deliveries of events that were published before this time (ISO 8601).', TIME),
];

const NEXT_PAGE = {
  operationId: 'listDeliveries',
  description: 'The next page, if `next` is not null. Repeat the other query parameters.',
  parameters: { id: '$request.path.id', before: '$response.body#/next' },
};

export const operation: Operation = {
  id: 'listDeliveries',
  method: 'get',
  path: '/api/webhooks/{id}/deliveries',
  tag: 'Deliveries',
  summary: 'List the deliveries of a webhook',
  description:
    'Lists the deliveries of a webhook with their attempts, page by page, newest first by the time of publication. An event that was published twice has two deliveries with the same id. Test events are not included.',
  security: 'bearer',
  rateLimit: 'reads',
  parameters: PARAMETERS,
  responses: {
    200: {
      description: 'A page of deliveries. An attempt appears here shortly after it was made.',
      schema: deliveriesSchema,
      links: { nextPage: NEXT_PAGE },
    },
    400: refusal('A query parameter is not valid.'),
    404: WEBHOOK_NOT_FOUND,
  },
};

/** The source of the pages. */
export interface Deliveries {
  page(query: DeliveriesQuery): DeliveriesPage;
}

export function listDeliveries(ownWebhook: OwnWebhook, view: Deliveries, { reads, unsent }: Reading) {
  return async (ctx: Context): Promise<void> => {
    const turn = reads.turn(callerOf(ctx).accountId);
    if (turn) await turn;
    const asked = pageQuery(ctx.query);
    const { accountId, webhook } = await ownWebhook(ctx);
    const body = reads.counted(accountId, () => {
      const { deliveries, next } = view.page({ ...asked, accountId, webhookId: webhook.id });
      return JSON.stringify({ deliveries: deliveries.map(shown), next: next && cursorOf(next) });
    });
    unsent.mustTake(ctx, accountId, body);
    ctx.type = 'application/json';
    ctx.body = body;
  };
}

function shown(delivery: DeliveriesPage['deliveries'][number]) {
  return { ...delivery, attempts: delivery.attempts.map(shownFailure) };
}

function cursorOf({ firstAt, id }: DeliveryPlace): string {
  return Buffer.from(`${firstAt}.${id}`).toString('base64url');
}

function query(name: string, description: string, schema: Parameter['schema']): Parameter {
  return { name, in: 'query', description, schema };
}
