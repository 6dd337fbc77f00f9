/** Two lists of webhooks, by their ids. */
import type { Webhook } from '../state/webhooks.js';

export interface Standing {
  /** As it stood then; added: as it is now. */
  readonly webhook: Webhook;
  readonly mark: 'same' | 'changed' | 'removed' | 'added';
  /** Null: it was removed. */
  readonly current: Webhook | null;
}

/** As it stood, in order; then what was added since. */
export function compared(then: readonly Webhook[], now: readonly Webhook[]): readonly Standing[] {
  const stood = then.map((webhook): Standing => {
    const current = now.find(({ id }) => id === webhook.id) ?? null;
    if (!current) return { webhook, current, mark: 'removed' };
    return { webhook, current, mark: shape(current) === shape(webhook) ? 'same' : 'changed' };
  });
  const added = now.filter(({ id }) => !then.some((webhook) => webhook.id === id));
  return [...stood, ...added.map((webhook): Standing => ({ webhook, current: webhook, mark: 'added' }))];
}

export const namesOf = ({ headers }: Webhook) => Object.keys(headers).sort().join(', ');

export const valuesOf = ({ headers }: Webhook) => JSON.stringify(Object.entries(headers).sort());

const shape = (webhook: Webhook) => JSON.stringify([webhook.url, webhook.isActive, valuesOf(webhook)]);
