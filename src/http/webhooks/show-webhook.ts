/** GET /api/webhooks/{id}: one webhook, as the list shows it, and how many of its deliveries have not arrived. */
import type { AskView, WebhookHealth } from '../../ports/deliveries-view.js';
import type { Sealing } from '../../secrets/sealing.js';
import { type Operation, READ, type Route, WEBHOOK_ID, WEBHOOK_NOT_FOUND } from '../operation.js';
import { type Reading, readRoute } from '../read-answer.js';
import { COUNT } from '../shared-schemas.js';
import type { OwnWebhook } from './webhook-command.js';
import { shownWebhook, valuesFor, WEBHOOK } from './webhook-fields.js';

const COUNTS = {
  waiting: { ...COUNT, description: 'They wait for another attempt. The removal of the webhook cancels them.' },
  held: { ...COUNT, description: 'They are held, since the service had deactivated the webhook.' },
  exhausted: { ...COUNT, description: 'They were given up after their last attempt.' },
} as const;

const DELIVERIES = {
  title: 'UndeliveredCounts',
  description: 'How many deliveries have not arrived. Null while the list of deliveries is rebuilt.',
  type: ['object', 'null'],
  required: Object.keys(COUNTS),
  properties: COUNTS,
} as const;

const SHOW_WEBHOOK: Operation = {
  id: 'showWebhook',
  ...READ,
  path: '/api/webhooks/{id}',
  tag: 'Webhooks',
  summary: 'Get a webhook',
  description: 'Returns one webhook of the account, active or not, and what its removal would end.',
  parameters: [WEBHOOK_ID],
  responses: {
    200: {
      description: 'The webhook.',
      schema: {
        title: 'OneWebhook',
        description: 'A webhook of the account.',
        type: 'object',
        required: ['webhook', 'deliveries'],
        properties: { webhook: WEBHOOK, deliveries: DELIVERIES },
      },
    },
    404: WEBHOOK_NOT_FOUND,
  },
};

export function showWebhook(
  ownWebhook: OwnWebhook,
  sealing: Sealing,
  deliveryCounts: DeliveryCounts,
  reading: Reading,
): Route {
  return readRoute(SHOW_WEBHOOK, reading, async (accountId, ctx) => {
    const { webhook } = await ownWebhook(ctx);
    const deliveries = await deliveryCounts(accountId, webhook.id);
    return () => ({ webhook: shownWebhook(accountId, webhook, valuesFor(ctx, sealing)), deliveries });
  });
}

/** How many deliveries of a webhook have not arrived. Null while the view is rebuilt. */
export type DeliveryCounts = (
  accountId: number,
  webhookId: number,
) => Promise<Pick<WebhookHealth, 'waiting' | 'held' | 'exhausted'> | null>;

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
