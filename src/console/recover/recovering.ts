/** The recoveries of the account, and the dialog that is open about one webhook. */
import { signal } from '@preact/signals';
import type { Recovery, WebhookHealth } from '../api/shapes.js';
import { useGot } from '../state/polled.js';

export interface Asked {
  readonly health: WebhookHealth;
  /** The recovery to show; null: the one that runs, or the form of a new one. */
  readonly id: string | null;
}

/** Whose dialog is open. */
export const asked = signal<Asked | null>(null);

export function askRecovery(health: WebhookHealth, id: string | null = null): void {
  asked.value = { health, id };
}

export function closeRecovery(): void {
  asked.value = null;
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

/** sent: all of them, and some have no answer yet. */
export const LOOKS = {
  running: { tone: 'busy', icon: 'refresh' },
  sent: { tone: 'busy', icon: 'waiting' },
  done: { tone: 'good', icon: 'delivered' },
  stopped: { tone: 'muted', icon: 'stop' },
} as const;

export function shownState({ state, sent, delivered, failed }: Recovery): keyof typeof LOOKS {
  return state === 'done' && sent > delivered + failed ? 'sent' : state;
}
