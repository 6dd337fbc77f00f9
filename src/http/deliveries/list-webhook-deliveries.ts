/** GET /api/webhooks/{id}/deliveries: the state of a webhook's deliveries, page by page, newest first. */
import type { Context } from 'koa';
import { type Operation, refusal, WEBHOOK_ID, WEBHOOK_NOT_FOUND } from '../operation.js';
import { callerOf } from '../request-context.js';
import { ETAG, IF_NONE_MATCH, isUnchanged, NOT_MODIFIED } from '../tagged.js';
import type { Reading } from '../webhooks/list-webhooks.js';
import type { OwnWebhook } from '../webhooks/own-webhook.js';
import { DELIVERY, type Deliveries, PAGE_PARAMETERS, pageSchema, pageText, shownDelivery } from './delivery-page.js';
import { NO_FILTERS, pageQuery } from './page-query.js';

const schema = pageSchema(
  { title: 'DeliveryPage', description: 'A page of the deliveries of a webhook.' },
  {
    title: 'Delivery',
    description: 'One payment event on its way to one webhook.',
    type: 'object',
    required: Object.keys(DELIVERY),
    properties: DELIVERY,
  },
);

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
  parameters: [WEBHOOK_ID, ...PAGE_PARAMETERS, IF_NONE_MATCH],
  responses: {
    200: {
      description: 'A page of deliveries. An attempt appears here shortly after it was made.',
      schema,
      headers: ETAG,
      links: { nextPage: NEXT_PAGE },
    },
    304: NOT_MODIFIED,
    400: refusal('A query parameter is not valid.'),
    404: WEBHOOK_NOT_FOUND,
  },
};

export function listWebhookDeliveries(ownWebhook: OwnWebhook, view: Deliveries, { reads, unsent }: Reading) {
  return async (ctx: Context): Promise<void> => {
    const turn = reads.turn(callerOf(ctx).accountId);
    if (turn) await turn;
    const asked = pageQuery(ctx.query);
    const { accountId, webhook } = await ownWebhook(ctx);
    const body = reads.counted(accountId, () => {
      return pageText(view.page({ ...asked, ...NO_FILTERS, accountId, webhookId: webhook.id }), shownDelivery);
    });
    if (isUnchanged(ctx, body)) return;
    unsent.mustTake(ctx, accountId, body);
    ctx.type = 'application/json';
    ctx.body = body;
  };
}
