/** The account's webhooks, for every screen that names a URL. */
import { api, resultOf } from '../api/client.js';
import type { components } from '../api/openapi.js';
import { useGot } from './polled.js';

export type Webhook = components['schemas']['Webhook'];

/** @param at ISO time: as they stood then; null: now */
export function useWebhooks(at: string | null = null) {
  const everyMs = at ? 60_000 : 15_000;
  return useGot('/api/webhooks', { query: at ? { at } : {} }, { everyMs, keepsLast: true });
}

export function useHealth() {
  return useGot('/api/webhooks/health', {});
}

export const setActive = (id: number, isActive: boolean) =>
  resultOf(api.PATCH('/api/webhooks/{id}', { params: { path: { id } }, body: { isActive } }));

/** Its deliveries wait until the service tries it again. */
export const useIsFailing = (id: number | undefined) =>
  useHealth().data?.webhooks.find(({ webhookId }) => webhookId === id)?.state === 'failing';

/** Null: it was removed, or is not known yet. */
export function useWebhook(id: number | null): Webhook | null {
  return useWebhooks().data?.webhooks.find((webhook) => webhook.id === id) ?? null;
}
