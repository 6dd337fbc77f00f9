/** What the Webhooks screens show second or on demand, each a chunk of its own. */
import lazy from 'preact-iso/lazy';

export const EditWebhook = lazy(async () => (await import('./edit-webhook.js')).EditWebhook);
export const LastDay = lazy(async () => (await import('./last-day.js')).LastDay);
export const LastDeliveries = lazy(async () => (await import('./last-deliveries.js')).LastDeliveries);
export const Question = lazy(async () => (await import('./question.js')).Question);
export const Versions = lazy(async () => (await import('./versions.js')).Versions);
export const Receivers = lazy(async () => (await import('./receivers.js')).Receivers);
