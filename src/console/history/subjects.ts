/** What the changes of an account say about each other: which URL each is about, and what an update changed. Pure. */
import type { Schema } from '../api/shapes.js';

type Change = Pick<Schema<'Change'>, 'type' | 'webhookId' | 'changes'>;

const CONFIGURATION = /^(?:added|updated): (\S+) (.*?) v(\d+)(?:, headers (.*))?$/s;

interface Configuration {
  readonly type: string;
  readonly url: string;
  readonly version: number;
  /** Names. */
  readonly headers: readonly string[];
}

function configurationOf({ changes }: Change): Configuration | null {
  const [, type, url, version, headers] = CONFIGURATION.exec(changes) ?? [];
  if (!type || !url) return null;
  return { type, url, version: Number(version), headers: headers?.split(', ') ?? [] };
}

/** @returns null: it was removed, and its configuration is not among the changes that are known */
export function subjectOf(
  webhookId: number,
  webhooks: readonly Schema<'Webhook'>[],
  known: readonly Change[],
): Pick<Configuration, 'type' | 'url'> | null {
  const current = webhooks.find(({ id }) => id === webhookId);
  if (current) return current;
  return configurations(webhookId, known)[0] ?? null;
}

/** @returns null: it is no update, or the version before is not among the changes that are known */
export function headersChanged(change: Change, known: readonly Change[]) {
  const now = change.type === 'WebhookUpdated' && change.webhookId !== null && configurationOf(change);
  if (!now) return null;
  const before = configurations(change.webhookId, known).find(({ version }) => version === now.version - 1);
  if (!before) return null;
  return {
    added: now.headers.filter((name) => !before.headers.includes(name)),
    removed: before.headers.filter((name) => !now.headers.includes(name)),
  };
}

function configurations(webhookId: number | null, known: readonly Change[]): Configuration[] {
  return known.flatMap((change) => {
    const found = change.webhookId === webhookId ? configurationOf(change) : null;
    return found ? [found] : [];
  });
}
