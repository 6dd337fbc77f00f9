/** GET /api/webhooks/{id}: one webhook, as the list shows it, and how many of its deliveries have not arrived. */
import type { AskView } from '../../ports/deliveries-view.js';
import type { Sealing } from '../../secrets/sealing.js';
import type { Admission } from '../admission.js';
import { read, WEBHOOK_ID } from '../operation.js';
import { readRoute } from '../read-answer.js';
import { count, object, orNull, type Static } from '../schema.js';
import type { OwnWebhook } from './webhook-command.js';
import { shownWebhook, valuesFor, WEBHOOK } from './webhook-fields.js';

const UNDELIVERED = object(
  'UndeliveredCounts',
  'How many deliveries have not arrived. Null while the list of deliveries is rebuilt.',
  {
    waiting: count('They wait for another attempt. The removal of the webhook cancels them.'),
    held: count('They are held, since the service had deactivated the webhook.'),
    exhausted: count('They were given up after their last attempt.'),
  },
);

const SHOW_WEBHOOK = read({
  id: 'showWebhook',
  path: '/api/webhooks/{id}',
  tag: 'Webhooks',
  summary: 'Get a webhook',
  description: 'Returns one webhook of the account, active or not, and what its removal would end.',
  pathId: WEBHOOK_ID,
  responses: {
    200: {
      description: 'The webhook.',
      schema: object('OneWebhook', 'A webhook of the account.', { webhook: WEBHOOK, deliveries: orNull(UNDELIVERED) }),
    },
  },
});

export function showWebhook(
  ownWebhook: OwnWebhook,
  sealing: Sealing,
  deliveryCounts: DeliveryCounts,
  admission: Admission,
) {
  return readRoute(SHOW_WEBHOOK, admission, async (accountId, ctx) => {
    const { webhook } = await ownWebhook(ctx);
    const deliveries = await deliveryCounts(accountId, webhook.id);
    return () => ({ webhook: shownWebhook(accountId, webhook, valuesFor(ctx, sealing)), deliveries });
  });
}

/** How many deliveries of a webhook have not arrived. Null while the view is rebuilt. */
export type DeliveryCounts = (accountId: number, webhookId: number) => Promise<Static<typeof UNDELIVERED> | null>;

/** What the answer to an activation says of those that are held: empty, or completes a message. */
export type HeldDeliveries = (accountId: number, webhookId: number) => Promise<string>;

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
