/** GET /api/webhooks/{id}: one webhook, as the list shows it, and how many of its deliveries have not arrived. */
import type { Requester } from '../../limits/user-limits.js';
import { count, object, orNull } from '../../schema.js';
import type { ApiParts } from '../api-parts.js';
import { read } from '../read-answer.js';
import { ownWebhook } from './webhook-command.js';
import { shownWebhook, valuesFor, WEBHOOK } from './webhook-fields.js';
import { UNTRIED } from './webhooks-health.js';

const UNDELIVERED = object('UndeliveredCounts', 'What has not arrived. Null while the list of deliveries is rebuilt.', {
  waiting: count(
    'They wait for another attempt. The removal of the webhook cancels them. New ones that have not been attempted or deferred yet are not counted.',
  ),
  held: count('They are held, since the service had deactivated the webhook.'),
  exhausted: count('They were given up after their last attempt.'),
});

export const showWebhook = read({
  id: 'showWebhook',
  path: '/api/webhooks/{id}',
  description: 'Returns one webhook of the account, active or not, and what its removal would end.',
  returns: object('OneWebhook', 'A webhook of the account.', { webhook: WEBHOOK, deliveries: orNull(UNDELIVERED) }),
}).answer(async (parts, { accountId, ctx, requester }) => {
  const webhook = await ownWebhook(ctx, parts);
  const deliveries = await deliveryCounts(parts, requester, webhook.id);
  return () => ({ webhook: shownWebhook(accountId, webhook, valuesFor(ctx, parts.sealing)), deliveries });
});

/** How many deliveries of a webhook have not arrived. Null while the view is rebuilt. */
export async function deliveryCounts({ view }: Pick<ApiParts, 'view'>, requester: Requester, webhookId: number) {
  const { owner, user } = requester;
  const known = view.isCaughtUp ? await view.ask(Number(owner), (sound) => sound.health(), user) : null;
  if (!known) return null;
  const { waiting, held, exhausted } = known.get(webhookId) ?? UNTRIED;
  return { waiting, held, exhausted };
}
