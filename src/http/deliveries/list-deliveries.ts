/** GET /api/deliveries and /api/webhooks/{id}/deliveries: deliveries of an account or webhook, page by page, newest first. */

import { list, object, type Schema, textOrNull } from '../../schema.js';
import { registered } from '../api-error.js';
import { filters } from '../query.js';
import { ETAG, IF_NONE_MATCH, NOT_MODIFIED, read, viewAnswer } from '../read-answer.js';
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

export const listAccountDeliveries = read({
  id: 'listAccountDeliveries',
  path: '/api/deliveries',
  description: `Lists the deliveries of all webhooks of the account, removed ones included, ${IN_PAGES}`,
  query: { ...PAGE_QUERY, ...filters('deliveries', 'deliveries of ') },
  headers: IF_NONE_MATCH,
  responses: pageResponses(ACCOUNT_PAGE),
}).answer(async ({ accounts, view, now }, { accountId, query }) => {
  const { error: errors, ...asked } = query;
  registered(await accounts.webhooks(accountId));
  const found = await viewAnswer(view, accountId, (sound) => sound.page({ ...asked, errors }));
  return shownPage(found, now, accountDelivery);
});

export const listDeliveries = read({
  id: 'listDeliveries',
  path: '/api/webhooks/{id}/deliveries',
  description: `Lists the deliveries of a webhook ${IN_PAGES}`,
  query: PAGE_QUERY,
  headers: IF_NONE_MATCH,
  responses: pageResponses(WEBHOOK_PAGE),
}).answer(async (parts, { accountId, ctx, query }) => {
  const asked = { ...query, ...NO_FILTERS };
  const { id: webhookId } = await ownWebhook(ctx, parts);
  const found = await viewAnswer(parts.view, accountId, (sound) => sound.page({ ...asked, webhookId }));
  return shownPage(found, parts.now, shownDelivery);
});

const NO_FILTERS = { eventType: null, eventId: null, status: null, errors: null } as const;
