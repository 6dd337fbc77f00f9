/** The account's webhooks, for every screen that names a URL. */
import { patch } from '../api/client.js';
import type { Webhook } from '../api/shapes.js';
import { useGot } from './polled.js';

/** @param at ISO time: as they stood then; null: now */
export function useWebhooks(at: string | null = null) {
  const everyMs = at ? 60_000 : 15_000;
  return useGot('/api/webhooks', { query: at ? { at } : {} }, { everyMs, keepsLast: true });
}

export const useHealth = () => useGot('/api/webhooks/health', {});

export const setActive = (id: number, isActive: boolean) => patch('/api/webhooks/{id}', id, { isActive });

/** Of all webhooks of the account: how many of a type are active. */
export const activeOf = (type: Webhook['type'], webhooks: readonly Webhook[]) =>
  webhooks.filter((one) => one.type === type && one.isActive).length;
