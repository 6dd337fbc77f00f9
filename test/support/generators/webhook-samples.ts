import type { RegisterWebhook } from '../../../src/webhooks/decide.js';
import type { AccountRegistered, WebhookAdded } from '../../../src/webhooks/events.js';

export const AT = '2026-11-03T10:00:00.000Z';
export const CONTEXT = { actor: 'test', requestId: 'request-1', correlationId: 'correlation-1' };

export function registered(accountId = 42): AccountRegistered {
  return { type: 'AccountRegistered', data: { accountId, registeredAt: AT } };
}

/** WebhookAdded, by default for https://shop.example.com/<webhookId>. */
export function added(webhookId: number, changes: Partial<WebhookAdded['data']> = {}): WebhookAdded {
  const url = `https://shop.example.com/${webhookId}`;
  const data = { webhookId, eventType: 'cash_in', url, endpoint: url, headers: [], version: 1, createdAt: AT } as const;
  return { type: 'WebhookAdded', data: { ...data, ...changes } };
}

/** The command for https://shop.example.com/<path>, which is also its endpoint by default. */
export function register(path: number | string, changes: Partial<RegisterWebhook> = {}): RegisterWebhook {
  const url = `https://shop.example.com/${path}`;
  const command = {
    type: 'RegisterWebhook',
    url,
    endpoint: url,
    eventType: 'cash_in',
    headers: [],
    isHeldBy: () => false,
  } as const;
  return { ...command, newId: 100, at: AT, ...changes };
}

/** The attempt that an endpoint's failing is based on. */
export const LAST_FAILURE = { at: AT, status: 503, error: null } as const;
