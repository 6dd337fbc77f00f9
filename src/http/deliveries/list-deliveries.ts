/** GET /api/deliveries and /api/webhooks/{id}/deliveries: deliveries of an account or webhook, page by page, newest first. */
import type { Requester } from '../../limits/user-limits.js';
import { list, object, textOrNull } from '../../schema.js';
import { registered } from '../api-error.js';
import type { ApiParts } from '../api-parts.js';
import { type AskedQuery, cursorOf, webhookIdQuery } from '../query.js';
import { read, viewAnswer } from '../read-answer.js';
import { timeText } from '../shared-schemas.js';
import { ownWebhook } from '../webhooks/webhook-command.js';
import { COMPLETE_SINCE, DELIVERY, PAGE_QUERY, shownDelivery } from './delivery-page.js';

const PAGE = object('DeliveryPage', 'A page of deliveries. An attempt appears here shortly after it was made.', {
  deliveries: list(
    'The deliveries of this page, newest first.',
    object('Delivery', 'One payment event on its way to one webhook.', DELIVERY),
  ),
  next: textOrNull('Pass it as `before` for the next page. Null on the last page; others may be short.'),
  completeSince: COMPLETE_SINCE,
});

const IN_PAGES =
  'with their attempts, page by page, newest first by the time of publication. An event that was published twice has two deliveries with the same id. Test events are not included.';

export const listAccountDeliveries = read({
  id: 'listAccountDeliveries',
  path: '/api/deliveries',
  description: `Lists the deliveries of all webhooks of the account, removed ones included, ${IN_PAGES}`,
  query: { ...PAGE_QUERY, webhookId: webhookIdQuery('Only deliveries to this webhook.') },
  returns: PAGE,
  isTagged: true,
}).answer(async (parts, { accountId, query, requester }) => {
  registered(await parts.accounts.webhooks(accountId));
  return page(parts, requester, query);
});

export const listDeliveries = read({
  id: 'listDeliveries',
  path: '/api/webhooks/{id}/deliveries',
  description: `Lists the deliveries of a webhook ${IN_PAGES}`,
  query: PAGE_QUERY,
  returns: PAGE,
  isTagged: true,
}).answer(async (parts, { ctx, query, requester }) => {
  const { id: webhookId } = await ownWebhook(ctx, parts);
  return page(parts, requester, { ...query, webhookId });
});

type PageAsked = AskedQuery<typeof PAGE_QUERY> & { readonly webhookId: number | null };

async function page({ view, now }: ApiParts, requester: Requester, { error: errors, ...asked }: PageAsked) {
  const found = await viewAnswer(view, requester, (sound) => sound.page({ ...asked, errors }));
  const at = now().getTime();
  return () => ({
    deliveries: found.deliveries.map((delivery) => shownDelivery(delivery, at)),
    next: found.next && cursorOf([found.next.firstAt, found.next.tie, found.next.payment]),
    completeSince: timeText(found.completeSince),
  });
}
