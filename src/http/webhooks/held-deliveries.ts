/** How many deliveries of a webhook have not arrived, and what the answer to an activation says of those that are held. */
import type { DeliveriesView, WebhookHealth } from '../../ports/deliveries-view.js';

/** Null while the view is rebuilt. */
export type DeliveryCounts = (
  accountId: number,
  webhookId: number,
) => Pick<WebhookHealth, 'waiting' | 'held' | 'exhausted'> | null;

/** Empty, or completes a message. */
export type HeldDeliveries = (accountId: number, webhookId: number) => string;

interface Asked {
  ask<T>(question: (view: Pick<DeliveriesView, 'health'>) => T, nothing: T): T;
  /** Why the view may be incomplete. */
  state(): { readonly why: string | null };
}

const NONE = { waiting: 0, held: 0, exhausted: 0 };

export function createDeliveryCounts(view: Asked): DeliveryCounts {
  return (accountId, webhookId) => {
    if (view.state().why !== null) return null;
    const health = view.ask((asked) => asked.health(accountId).get(webhookId) ?? NONE, null);
    return health && { waiting: health.waiting, held: health.held, exhausted: health.exhausted };
  };
}

export function createHeldDeliveries(counts: DeliveryCounts): HeldDeliveries {
  return (accountId, webhookId) => {
    const held = counts(accountId, webhookId)?.held ?? 0;
    if (held === 0) return '';
    const deliveries = held === 1 ? '1 delivery is' : `${held.toLocaleString('en-US')} deliveries are`;
    return `; ${deliveries} held: POST /api/webhooks/${webhookId}/recover sends ${held === 1 ? 'it' : 'them'}`;
  };
}
