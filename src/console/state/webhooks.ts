/** The account's webhooks, for every screen that names a URL. */
import { api, resultOf } from '../api/client.js';
import type { components } from '../api/openapi.js';
import { type Asking, usePolled } from './polled.js';

export type Webhook = components['schemas']['Webhook'];

export function useWebhooks() {
  const ask = (asking: Asking) => resultOf(api.GET('/api/webhooks', asking));
  return usePolled<{ webhooks: Webhook[] }>('webhooks', ask, { everyMs: 15_000 });
}

/** Null: it was removed, or is not known yet. */
export function useWebhook(id: number | null): Webhook | null {
  return useWebhooks().data?.webhooks.find((webhook) => webhook.id === id) ?? null;
}
