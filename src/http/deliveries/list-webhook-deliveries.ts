import type { AskView } from '../../ports/deliveries-view.js';
import { type Operation, READ, type Route, refusal, WEBHOOK_ID, WEBHOOK_NOT_FOUND } from '../operation.js';
import { ETAG, IF_NONE_MATCH, NOT_MODIFIED, type Reading, readRoute } from '../read-answer.js';
import type { OwnWebhook } from '../webhooks/own-webhook.js';
import { DELIVERY, PAGE_PARAMETERS, pageSchema, shownDelivery, shownPage } from './delivery-page.js';
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

const LIST_DELIVERIES: Operation = {
  id: 'listDeliveries',
  ...READ,
  path: '/api/webhooks/{id}/deliveries',
  tag: 'Deliveries',
  summary: 'List the deliveries of a webhook',
  description:
    'Lists the deliveries of a webhook with their attempts, page by page, newest first by the time of publication. An event that was published twice has two deliveries with the same id. Test events are not included.',
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

export function listWebhookDeliveries(ownWebhook: OwnWebhook, view: AskView, reading: Reading): Route {
  return readRoute(LIST_DELIVERIES, reading, async (accountId, ctx) => {
    const asked = { ...pageQuery(ctx.query), ...NO_FILTERS, accountId };
    const { webhook } = await ownWebhook(ctx);
    return { make: () => shownPage(view, { ...asked, webhookId: webhook.id }, shownDelivery), isTagged: true };
  });
}
