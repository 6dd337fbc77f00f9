/** GET /api/webhooks/{id}/deliveries: what became of what was sent to a webhook, page by page, newest first. */
import type { Context } from 'koa';
import {
  type DeliveriesPage,
  type DeliveriesQuery,
  type DeliveryPlace,
  VIEW_OUTCOMES,
} from '../ports/deliveries-view.js';
import { type Operation, type Parameter, refusal, WEBHOOK_ID } from './operation.js';
import type { OwnWebhook } from './own-webhook.js';
import { MOST_IN_A_PAGE, PAGE_SIZE, pageQuery } from './page-query.js';

const TIME = { type: 'string', format: 'date-time' } as const;
const TIME_OR_NULL = { type: ['string', 'null'], format: 'date-time' } as const;

export const deliveriesSchema = {
  type: 'object',
  required: ['deliveries', 'next'],
  properties: {
    deliveries: {
      type: 'array',
      items: {
        type: 'object',
        required: ['id', 'eventId', 'outcome', 'attempts', 'nextAttemptAt'],
        properties: {
          id: { type: 'string', description: 'The webhook-id.' },
          eventId: { type: 'string' },
          outcome: { enum: VIEW_OUTCOMES },
          attempts: {
            type: 'array',
            items: {
              type: 'object',
              required: ['at', 'status', 'error', 'durationMs', 'version'],
              properties: {
                at: TIME,
                status: { type: ['integer', 'null'], description: 'Null where no response came.' },
                error: { type: ['string', 'null'], description: 'Null where a response came in full.' },
                durationMs: { type: 'number', minimum: 0 },
                version: { type: 'integer', description: "The webhook's, under which it was sent." },
              },
            },
          },
          nextAttemptAt: TIME_OR_NULL,
        },
      },
    },
    next: { type: ['string', 'null'], description: 'What before has to be for the next page; null after the last.' },
  },
} as const;

const PARAMETERS: readonly Parameter[] = [
  WEBHOOK_ID,
  query('limit', 'How many at most.', { type: 'integer', minimum: 1, maximum: MOST_IN_A_PAGE, default: PAGE_SIZE }),
  query('before', 'The next of the page before this one.', { type: 'string' }),
  query('outcome', 'Only these.', { enum: VIEW_OUTCOMES }),
  query('from', 'Only those whose first entry is not earlier, in ISO 8601.', TIME),
  query('to', 'Only those whose first entry is earlier, in ISO 8601.', TIME),
];

export const operation: Operation = {
  id: 'listDeliveries',
  method: 'get',
  path: '/api/webhooks/{id}/deliveries',
  summary: 'Lists the deliveries of a webhook with their attempts, newest first.',
  security: 'bearer',
  parameters: PARAMETERS,
  responses: {
    200: { description: 'As far as this process has read the topic of deliveries.', schema: deliveriesSchema },
    400: refusal('A parameter is not valid.'),
    404: refusal('The account has no webhook of this id, or is not known.'),
  },
};

/** What the answers are read from. */
export interface Deliveries {
  page(query: DeliveriesQuery): DeliveriesPage;
}

export function listDeliveries(ownWebhook: OwnWebhook, view: Deliveries) {
  return async (ctx: Context): Promise<void> => {
    const asked = pageQuery(ctx.query);
    const { accountId, webhook } = await ownWebhook(ctx);
    const { deliveries, next } = view.page({ ...asked, accountId, webhookId: webhook.id });
    ctx.body = { deliveries, next: next && cursorOf(next) };
  };
}

function cursorOf({ firstAt, id }: DeliveryPlace): string {
  return Buffer.from(`${firstAt}.${id}`).toString('base64url');
}

function query(name: string, description: string, schema: Parameter['schema']): Parameter {
  return { name, in: 'query', description, schema };
}
