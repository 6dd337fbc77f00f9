/** The recoveries of the account, and the webhook whose recovery is being asked for. */
import { signal } from '@preact/signals';
import { api, resultOf } from '../api/client.js';
import type { RecoveryList, WebhookHealth } from '../api/shapes.js';
import { usePolled } from '../state/polled.js';

/** Its dialog is open. */
export const asked = signal<WebhookHealth | null>(null);

export function askRecovery(health: WebhookHealth): void {
  asked.value = health;
}

export function useRecoveries() {
  return usePolled<RecoveryList>('recoveries', (asking) => resultOf(api.GET('/api/recoveries', asking)));
}
