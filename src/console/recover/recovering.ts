/** The recoveries of the account, and the webhook whose recovery is being asked for. */
import { signal } from '@preact/signals';
import type { WebhookHealth } from '../api/shapes.js';
import { useGot } from '../state/polled.js';

/** Its dialog is open. */
export const asked = signal<WebhookHealth | null>(null);

export function askRecovery(health: WebhookHealth): void {
  asked.value = health;
}

/** Recoveries that this page saw running: how each ended is shown until it is dismissed. */
export const followed = signal<ReadonlySet<string>>(new Set());

export function follow(id: string): void {
  if (!followed.peek().has(id)) followed.value = new Set([...followed.peek(), id]);
}

export function dismiss(id: string): void {
  followed.value = new Set([...followed.peek()].filter((one) => one !== id));
}

export function useRecoveries() {
  return useGot('/api/recoveries', {});
}
