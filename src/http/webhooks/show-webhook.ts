/** GET /api/webhooks/{id}: one webhook, as the list shows it, and how many of its deliveries have not arrived. */
import type { AskView } from '../../ports/deliveries-view.js';
import type { ApiParts, DeliveryCounts, HeldDeliveries } from '../api-parts.js';
import { read, WEBHOOK_ID } from '../operation.js';
import { readRoute } from '../read-answer.js';
import { count, object, orNull } from '../schema.js';
import { ownWebhook } from './webhook-command.js';
import { shownWebhook, valuesFor, WEBHOOK } from './webhook-fields.js';

const UNDELIVERED = object('UndeliveredCounts', 'What has not arrived. Null while the list of deliveries is rebuilt.', {
  waiting: count('They wait for another attempt. The removal of the webhook cancels them.'),
  held: count('They are held, since the service had deactivated the webhook.'),
  exhausted: count('They were given up after their last attempt.'),
});

const SHOW_WEBHOOK = read({
  id: 'showWebhook',
  path: '/api/webhooks/{id}',
  summary: 'Get a webhook',
  description: 'Returns one webhook of the account, active or not, and what its removal would end.',
  pathId: WEBHOOK_ID,
  responses: {
    200: object('OneWebhook', 'A webhook of the account.', { webhook: WEBHOOK, deliveries: orNull(UNDELIVERED) }),
  },
});

export function showWebhook(parts: ApiParts) {
  return readRoute(SHOW_WEBHOOK, parts.admission, async (accountId, ctx) => {
    const webhook = await ownWebhook(ctx, parts);
    const deliveries = await parts.deliveryCounts(accountId, webhook.id);
    return () => ({ webhook: shownWebhook(accountId, webhook, valuesFor(ctx, parts.sealing)), deliveries });
  });
}

interface HealthView extends Pick<AskView, 'ask'> {
  /** Why the view may be incomplete. */
  state(): { readonly why: string | null };
}

const NONE = { waiting: 0, held: 0, exhausted: 0 };

export function createDeliveryCounts(view: HealthView): DeliveryCounts {
  return async (accountId, webhookId) => {
    if (view.state().why !== null) return null;
    const health = await view.ask(accountId, (asked) => asked.health());
    if (!health) return null;
    const { waiting, held, exhausted } = health.get(webhookId) ?? NONE;
    return { waiting, held, exhausted };
  };
}

export function createHeldDeliveries(counts: DeliveryCounts): HeldDeliveries {
  return async (accountId, webhookId) => {
    const { held } = (await counts(accountId, webhookId)) ?? NONE;
    if (held === 0) return '';
    const deliveries = held === 1 ? '1 delivery is' : `${held.toLocaleString('en-US')} deliveries are`;
    return `; ${deliveries} held: POST /api/webhooks/${webhookId}/recover sends ${held === 1 ? 'it' : 'them'}`;
  };
}
