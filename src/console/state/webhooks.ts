/** The account's webhooks, for every screen that names a URL. */
import { api, resultOf } from '../api/client.js';
import type { components } from '../api/openapi.js';
import type { WebhookHealth } from '../api/shapes.js';
import { now } from './now.js';
import { useGot } from './polled.js';

export type Webhook = components['schemas']['Webhook'];

/** @param at ISO time: as they stood then; null: now */
export function useWebhooks(at: string | null = null) {
  const everyMs = at ? 60_000 : 15_000;
  return useGot('/api/webhooks', { query: at ? { at } : {} }, { everyMs, keepsLast: true });
}

export function useHealth() {
  const polled = useGot('/api/webhooks/health', {});
  return { ...polled, data: polled.data && { webhooks: polled.data.webhooks.map(withoutBlip) } };
}

const BLIP_MS = 60_000;

/**
 * One failed delivery is sent again within seconds: a URL that worked before is called failing once a second one waits, or
 * once it has accepted nothing for a minute.
 */
function withoutBlip(health: WebhookHealth): WebhookHealth {
  const { state, since, lastSuccessAt, waiting } = health;
  if (state !== 'failing' || !since || !lastSuccessAt || waiting > 1) return health;
  if (now.value - Date.parse(since) >= BLIP_MS) return health;
  return { ...health, state: 'healthy', since: null, deactivatesAt: null };
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
