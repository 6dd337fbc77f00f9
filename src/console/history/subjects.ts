/** What the changes of an account say about each other: which URL each is about, and what an update changed. Pure. */
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

/** Of an update: the names that came and went. Null: its headers are as they were, or it is no update. */
export function headersChanged({ details: { before, after, headersChanged: isChanged } }: Pick<Change, 'details'>) {
  if (!before || !after || !isChanged) return null;
  return {
    added: after.headers.filter((name) => !before.headers.includes(name)),
    removed: before.headers.filter((name) => !after.headers.includes(name)),
  };
}
