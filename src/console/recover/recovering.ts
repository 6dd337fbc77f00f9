/** The recovery that is being asked for, and the one that runs: it goes on while its dialog is closed. */
import { signal } from '@preact/signals';
import type { Recovery, WebhookHealth } from '../api/shapes.js';

export interface RunningRecovery {
  readonly id: string;
  readonly webhookId: number;
  readonly perSecond: number;
  readonly progress: Recovery;
}

/** Its dialog is open. */
export const asked = signal<WebhookHealth | null>(null);
export const running = signal<RunningRecovery | null>(null);

export function askRecovery(health: WebhookHealth): void {
  asked.value = health;
}
