/** The account's webhooks, for every screen that names a URL. */
import { api, resultOf } from '../api/client.js';
import type { components } from '../api/openapi.js';
import type { WebhookHealth } from '../api/shapes.js';
import { type Asking, usePolled } from './polled.js';

export type Webhook = components['schemas']['Webhook'];

export function useWebhooks() {
  const ask = (asking: Asking) => resultOf(api.GET('/api/webhooks', asking));
  return usePolled<{ webhooks: Webhook[] }>('webhooks', ask, { everyMs: 15_000 });
}

export function useHealth() {
  return usePolled<{ webhooks: WebhookHealth[] }>('health', (asking) =>
    resultOf(api.GET('/api/webhooks/health', asking)),
  );
}

export const setActive = (id: number, isActive: boolean) =>
  resultOf(api.PATCH('/api/webhooks/{id}', { params: { path: { id } }, body: { isActive } }));

/** Null: it was removed, or is not known yet. */
export function useWebhook(id: number | null): Webhook | null {
  return useWebhooks().data?.webhooks.find((webhook) => webhook.id === id) ?? null;
}
