/** GET /api/deliveries and /api/webhooks/{id}/deliveries: deliveries of an account or webhook, page by page, newest first. */
import type { AskView, DeliveriesQuery, ViewedDelivery } from '../../ports/deliveries-view.js';
import type { Accounts } from '../../read-model/accounts.js';
import type { Admission } from '../admission.js';
import { registered } from '../api-error.js';
import { read, WEBHOOK_ID } from '../operation.js';
import { filters, readQuery } from '../query.js';
import { ETAG, IF_NONE_MATCH, NOT_MODIFIED, readRoute, viewAnswer } from '../read-answer.js';
import { list, object, type Schema, textOrNull } from '../schema.js';
import type { OwnWebhook } from '../webhooks/webhook-command.js';
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
    next: textOrNull(
      'Pass as `before` to get the next page. Null on the last page: a page with a `next` may be shorter than `limit`, or empty, if few deliveries are what was asked for.',
    ),
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

function pageResponses<T>(operationId: string, schema: Schema<T>, path: Readonly<Record<string, string>> = {}) {
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
  };
}

const IN_PAGES =
  'with their attempts, page by page, newest first by the time of publication. An event that was published twice has two deliveries with the same id. Test events are not included.';

const LIST_ACCOUNT_DELIVERIES = read({
  id: 'listAccountDeliveries',
  path: '/api/deliveries',
  tag: 'Deliveries',
  summary: 'List the deliveries of all webhooks',
  description: `Lists the deliveries of all webhooks of the account, removed ones included, ${IN_PAGES}`,
  query: { ...PAGE_QUERY, ...filters('deliveries', 'deliveries of ') },
  headers: IF_NONE_MATCH,
  responses: pageResponses('listAccountDeliveries', ACCOUNT_PAGE),
});

const LIST_DELIVERIES = read({
  id: 'listDeliveries',
  path: '/api/webhooks/{id}/deliveries',
  tag: 'Deliveries',
  summary: 'List the deliveries of a webhook',
  description: `Lists the deliveries of a webhook ${IN_PAGES}`,
  pathId: WEBHOOK_ID,
  query: PAGE_QUERY,
  headers: IF_NONE_MATCH,
  responses: pageResponses('listDeliveries', WEBHOOK_PAGE, { id: '$request.path.id' }),
});

const NO_FILTERS = { eventType: null, eventId: null, status: null, errors: null } as const;

export interface ListDeliveriesParts {
  readonly accounts: Pick<Accounts, 'webhooks'>;
  readonly ownWebhook: OwnWebhook;
  readonly view: AskView;
  readonly now: () => Date;
}

export function listDeliveries({ accounts, ownWebhook, view, now }: ListDeliveriesParts, admission: Admission) {
  const page = async <T>(
    accountId: number,
    asked: DeliveriesQuery,
    shown: (delivery: ViewedDelivery, now: number) => T,
  ) => {
    const found = await viewAnswer(view, accountId, (sound) => sound.page(asked));
    return shownPage(found, now, shown);
  };
  return [
    readRoute(LIST_ACCOUNT_DELIVERIES, admission, async (accountId, ctx) => {
      const { error: errors, ...asked } = readQuery(LIST_ACCOUNT_DELIVERIES.query, ctx.query);
      registered(await accounts.webhooks(accountId));
      return page(accountId, { ...asked, errors }, accountDelivery);
    }),
    readRoute(LIST_DELIVERIES, admission, async (accountId, ctx) => {
      const asked = readQuery(PAGE_QUERY, ctx.query);
      const { webhook } = await ownWebhook(ctx);
      return page(accountId, { ...asked, ...NO_FILTERS, webhookId: webhook.id }, shownDelivery);
    }),
  ] as const;
}
