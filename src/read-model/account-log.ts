/**
 * The history of an account or publisher, for auditors: what was configured, by whom, when; and an account's webhooks at a
 * point in time. Sealed values stay sealed.
 */
import type { EventStore, RecordedEvent } from '../ports/event-store.js';
import { keyUseOf } from '../webhooks/envelope.js';
import { accountStream, type ClientOwner, streamOf } from '../webhooks/events.js';
import type { AccountWebhooks, Webhook } from '../webhooks/state.js';
import { foldAll, whyUnfoldable } from './fold.js';
import { loadProjection } from './projection-source.js';

export type AuditEntry = ReturnType<typeof auditEntry>;

/** Oldest first; nothing for an owner never registered. @throws StoreUnavailable */
export async function* auditLog(store: EventStore, owner: ClientOwner): AsyncIterable<AuditEntry> {
  for await (const event of store.read(streamOf(owner))) yield auditEntry(event);
}

export function auditEntry(event: RecordedEvent) {
  const { revision, type, data, metadata } = event;
  const why = whyUnfoldable(event);
  const key = keyUseOf(event);
  const { actor, requestId, $correlationId, $traceparent } = metadata;
  return {
    revision,
    /** ISO 8601, UTC, ms: the time of the decision. IdempotencyKeyUsed has none but that of its key. */
    at: timeOf(data) ?? (key && new Date(key.at).toISOString()),
    type,
    actor: text(actor),
    requestId: text(requestId),
    correlationId: text($correlationId),
    traceparent: text($traceparent),
    data,
    /** Only on an event that can't be folded: the reason. The account is quarantined from there on. */
    ...(why !== null && { unreadable: why }),
  };
}

/**
 * Every event has one time of its own, under a name specific to its type: registeredAt, createdAt, updatedAt ... deactivatesAt, in
 * events about failing endpoints, is a time to come.
 */
function timeOf(data: Readonly<Record<string, unknown>>): string | null {
  return text(Object.entries(data).find(([name]) => name.endsWith('At') && name !== 'deactivatesAt')?.[1]);
}

const text = (value: unknown) => (typeof value === 'string' ? value : null);

/**
 * The webhooks in order of creation, folded as the service does. Null if the account was not registered yet.
 * @param at ms since the epoch, inclusive
 * @throws StoreUnavailable; AccountUnreadable if an event up to then can't be folded
 */
export async function configurationAt(
  store: Pick<EventStore, 'read'>,
  accountId: number,
  at: number,
): Promise<readonly Webhook[] | null> {
  const events = upTo(at, store.read(accountStream(accountId)));
  const folded = await foldAll<AccountWebhooks>(loadProjection('account-webhooks'), events);
  return folded && folded.state.accountId !== null ? folded.state.webhooks : null;
}

async function* upTo(at: number, events: AsyncIterable<RecordedEvent>): AsyncIterable<RecordedEvent> {
  for await (const event of events) {
    if (Date.parse(timeOf(event.data) ?? '') > at) return;
    yield event;
  }
}
