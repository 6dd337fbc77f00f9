/** GET /api/deliveries and /api/webhooks/{id}/deliveries: deliveries of an account or webhook, page by page, newest first. */
import type { AskView, ViewedDelivery } from '../../ports/deliveries-view.js';
import type { Accounts } from '../../read-model/accounts.js';
import { registered } from '../api-error.js';
import { type Operation, READ, type Route, refusal, type Schema, WEBHOOK_ID, WEBHOOK_NOT_FOUND } from '../operation.js';
import { ETAG, IF_NONE_MATCH, NOT_MODIFIED, type Reading, readRoute, viewAnswer } from '../read-answer.js';
import { EVENT_TYPE, TIME_OR_NULL, timeText } from '../shared-schemas.js';
import type { OwnWebhook } from '../webhooks/webhook-command.js';
import { DELIVERY, filters, PAGE_PARAMETERS, pageSchema, shownDelivery, shownPage } from './delivery-page.js';
import { filteredQuery, NO_FILTERS, pageQuery } from './page-query.js';

export const OF_ACCOUNT = {
  ...DELIVERY,
  webhookId: { type: 'integer', description: 'The webhook, which may have been removed since.' },
  eventType: EVENT_TYPE,
  publishedAt: {
    ...TIME_OR_NULL,
    description: 'When the payment event was published. Null if its producer gave it a time that is none.',
  },
} as const;

const ACCOUNT_PAGE = pageSchema(
  { title: 'AccountDeliveryPage', description: 'A page of the deliveries of an account.' },
  { title: 'AccountDelivery', description: 'One payment event on its way to one webhook of the account.' },
  OF_ACCOUNT,
);

const WEBHOOK_PAGE = pageSchema(
  { title: 'DeliveryPage', description: 'A page of the deliveries of a webhook.' },
  { title: 'Delivery', description: 'One payment event on its way to one webhook.' },
  DELIVERY,
);

function pageResponses(operationId: string, schema: Schema, path: Readonly<Record<string, string>> = {}) {
  const description = 'The next page, if `next` is not null. Repeat the other query parameters.';
  const nextPage = { operationId, description, parameters: { ...path, before: '$response.body#/next' } };
  return {
    200: {
      description: 'A page of deliveries. An attempt appears here shortly after it was made.',
      schema,
      headers: ETAG,
      links: { nextPage },
    },
    304: NOT_MODIFIED,
    400: refusal('A query parameter is not valid.'),
  };
}

const LIST_ACCOUNT_DELIVERIES: Operation = {
  id: 'listAccountDeliveries',
  ...READ,
  path: '/api/deliveries',
  tag: 'Deliveries',
  summary: 'List the deliveries of all webhooks',
  description:
    'Lists the deliveries of all webhooks of the account, removed ones included, with their attempts, page by page, newest first by the time of publication. An event that was published twice has two deliveries with the same id. Test events are not included.',
  parameters: [...PAGE_PARAMETERS, ...filters('deliveries', 'deliveries of '), IF_NONE_MATCH],
  responses: {
    ...pageResponses('listAccountDeliveries', ACCOUNT_PAGE),
    404: refusal('The account is not registered.'),
  },
};

export function listDeliveries(
  accounts: Pick<Accounts, 'webhooks'>,
  view: AskView,
  now: () => Date,
  reading: Reading,
): Route {
  return readRoute(LIST_ACCOUNT_DELIVERIES, reading, async (accountId, ctx) => {
    const asked = filteredQuery(ctx.query);
    registered(await accounts.webhooks(accountId));
    const page = await viewAnswer(view, accountId, (sound) => sound.page(asked));
    return shownPage(page, now, accountDelivery);
  });
}

/** @param now ms since the epoch */
export function accountDelivery(delivery: ViewedDelivery, now: number) {
  const { webhookId, eventType } = delivery;
  return { ...shownDelivery(delivery, now), webhookId, eventType, publishedAt: publishedAt(delivery) };
}

export function publishedAt({ firstAt }: Pick<ViewedDelivery, 'firstAt'>): string | null {
  return timeText(firstAt || null);
}

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
    ...pageResponses('listDeliveries', WEBHOOK_PAGE, { id: '$request.path.id' }),
    404: WEBHOOK_NOT_FOUND,
  },
};

export function listWebhookDeliveries(ownWebhook: OwnWebhook, view: AskView, now: () => Date, reading: Reading): Route {
  return readRoute(LIST_DELIVERIES, reading, async (accountId, ctx) => {
    const asked = { ...pageQuery(ctx.query), ...NO_FILTERS };
    const { webhook } = await ownWebhook(ctx);
    const page = await viewAnswer(view, accountId, (sound) => sound.page({ ...asked, webhookId: webhook.id }));
    return shownPage(page, now, shownDelivery);
  });
}
