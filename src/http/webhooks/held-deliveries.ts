/** What the answer to an activation adds: how many deliveries are held for the webhook, and how to send them. */
import type { DeliveriesView } from '../../ports/deliveries-view.js';

/** Empty, or completes a message. */
export type HeldDeliveries = (accountId: number, webhookId: number) => string;

interface Asked {
  ask<T>(question: (view: Pick<DeliveriesView, 'health'>) => T, nothing: T): T;
}

export function createHeldDeliveries(view: Asked): HeldDeliveries {
  return (accountId, webhookId) => {
    const held = view.ask((asked) => asked.health(accountId).get(webhookId)?.held ?? 0, 0);
    if (held === 0) return '';
    const deliveries = held === 1 ? '1 delivery is' : `${held.toLocaleString('en-US')} deliveries are`;
    return `; ${deliveries} held: POST /api/webhooks/${webhookId}/recover sends ${held === 1 ? 'it' : 'them'}`;
  };
}
