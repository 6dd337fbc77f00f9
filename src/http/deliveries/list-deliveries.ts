/** GET /api/deliveries and /api/webhooks/{id}/deliveries: deliveries of an account or webhook, page by page, newest first. */
import { registered } from '../api-error.js';
import type { ApiParts } from '../api-parts.js';
import { read, WEBHOOK_ID } from '../operation.js';
import { filters, readQuery } from '../query.js';
import { ETAG, IF_NONE_MATCH, NOT_MODIFIED, readRoute, viewAnswer } from '../read-answer.js';
import { list, object, type Schema, textOrNull } from '../schema.js';
import { ownWebhook } from '../webhooks/webhook-command.js';
import {
  accountDelivery,
  COMPLETE_SINCE,
  DELIVERY,
  OF_ACCOUNT,
  PAGE_QUERY,
  shownDelivery,
  shownPage,
} from './delivery-page.js';

function pageFields<T>(items: Schema<T>) {
  return {
    deliveries: list('The deliveries of this page, newest first.', items),
    next: textOrNull('Pass it as `before` for the next page. Null on the last page; others may be short.'),
    completeSince: COMPLETE_SINCE,
  };
}

const ACCOUNT_PAGE = object(
  'AccountDeliveryPage',
  'A page of the deliveries of an account.',
  pageFields(object('AccountDelivery', 'One payment event on its way to one webhook of the account.', OF_ACCOUNT)),
);

const WEBHOOK_PAGE = object(
  'DeliveryPage',
  'A page of the deliveries of a webhook.',
  pageFields(object('Delivery', 'One payment event on its way to one webhook.', DELIVERY)),
);

function pageResponses<T>(schema: Schema<T>) {
  const description = 'A page of deliveries. An attempt appears here shortly after it was made.';
  return { 200: { description, schema, headers: ETAG }, 304: NOT_MODIFIED };
}

const IN_PAGES =
  'with their attempts, page by page, newest first by the time of publication. An event that was published twice has two deliveries with the same id. Test events are not included.';

const LIST_ACCOUNT_DELIVERIES = read({
  id: 'listAccountDeliveries',
  path: '/api/deliveries',
  summary: 'List the deliveries of all webhooks',
  description: `Lists the deliveries of all webhooks of the account, removed ones included, ${IN_PAGES}`,
  query: { ...PAGE_QUERY, ...filters('deliveries', 'deliveries of ') },
  headers: IF_NONE_MATCH,
  responses: pageResponses(ACCOUNT_PAGE),
});

const LIST_DELIVERIES = read({
  id: 'listDeliveries',
  path: '/api/webhooks/{id}/deliveries',
  summary: 'List the deliveries of a webhook',
  description: `Lists the deliveries of a webhook ${IN_PAGES}`,
  pathId: WEBHOOK_ID,
  query: PAGE_QUERY,
  headers: IF_NONE_MATCH,
  responses: pageResponses(WEBHOOK_PAGE),
});

const NO_FILTERS = { eventType: null, eventId: null, status: null, errors: null } as const;

export function listAccountDeliveries({ accounts, view, now, admission }: ApiParts) {
  return readRoute(LIST_ACCOUNT_DELIVERIES, admission, async (accountId, ctx) => {
    const { error: errors, ...asked } = readQuery(LIST_ACCOUNT_DELIVERIES.query, ctx.query);
    registered(await accounts.webhooks(accountId));
    const found = await viewAnswer(view, accountId, (sound) => sound.page({ ...asked, errors }));
    return shownPage(found, now, accountDelivery);
  });
}

export function listDeliveries(parts: ApiParts) {
  return readRoute(LIST_DELIVERIES, parts.admission, async (accountId, ctx) => {
    const asked = { ...readQuery(PAGE_QUERY, ctx.query), ...NO_FILTERS };
    const { id: webhookId } = await ownWebhook(ctx, parts);
    const found = await viewAnswer(parts.view, accountId, (sound) => sound.page({ ...asked, webhookId }));
    return shownPage(found, parts.now, shownDelivery);
  });
}
