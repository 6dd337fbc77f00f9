/** What the Webhooks screens show second or on demand, each a chunk of its own. */
import { dialog, part } from '../parts/lazily.js';

export const EditWebhook = dialog(async () => (await import('./edit-webhook.js')).EditWebhook);
export const LastDay = part(async () => (await import('./last-day.js')).LastDay);
export const LastDeliveries = part(async () => (await import('./last-deliveries.js')).LastDeliveries);
export const Question = dialog(async () => (await import('./question.js')).Question);
export const Recoveries = part(async () => (await import('../recover/running-recoveries.js')).RunningRecoveries);
export const Versions = part(async () => (await import('./versions.js')).Versions);
export const Receivers = part(async () => (await import('./receivers.js')).Receivers);
