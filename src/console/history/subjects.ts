/** Which URL a change is about. Pure. */
import type { Change, Webhook } from '../api/shapes.js';

/** @returns null: it was removed, and its configuration is not among the changes that are known */
export function subjectOf(
  webhookId: number,
  webhooks: readonly Webhook[],
  known: readonly Pick<Change, 'webhookId' | 'details'>[],
): { readonly type: string; readonly url: string } | null {
  const current = webhooks.find(({ id }) => id === webhookId);
  if (current) return current;
  const after = known.find((change) => change.webhookId === webhookId && change.details.after)?.details.after;
  return after ? { type: after.eventType ?? '', url: after.url } : null;
}
