/**
 * At which revisions each of an account's webhooks got deliveries: while it was active, and while the service had switched
 * it off, which holds them. Recomputed from the history, independently of the service.
 */
import { NO_STREAM, type RecordedEvent } from '../ports/event-store.js';
import { AccountUnreadable } from '../read-model/account-unreadable.js';
import { isRouted } from '../read-model/accounts.js';
import { foldEach } from '../read-model/fold.js';
import type { Projection } from '../read-model/projection-source.js';
import type { EventType } from '../webhooks/limits.js';
import type { AccountWebhooks, Webhook } from '../webhooks/state.js';

export interface ActiveSpan {
  readonly webhookId: number;
  readonly eventType: EventType;
  /** The revision of the event that added or activated it. */
  readonly from: number;
  /** The revision of the event by which the account switched it off or removed it; Infinity without one. */
  readonly until: number;
}

export interface ActiveSpans {
  readonly spans: readonly ActiveSpan[];
  /** Of the last event; NO_STREAM if there is none. */
  readonly revision: number;
}

type Growing = { -readonly [Key in keyof ActiveSpan]: ActiveSpan[Key] };

/** Stops at an event that can't be folded: later events don't affect routing. @throws errors of the history */
export async function activeSpans(history: AsyncIterable<RecordedEvent>, projection: Projection): Promise<ActiveSpans> {
  const spans: Growing[] = [];
  const open = new Map<number, Growing>();
  let revision = NO_STREAM;
  try {
    for await (const folded of foldEach<AccountWebhooks>(projection, history)) {
      revision = folded.revision;
      spans.push(...changed(open, folded.state.webhooks, revision));
    }
  } catch (error) {
    if (!(error instanceof AccountUnreadable)) throw error;
  }
  return { spans, revision };
}

/** Ends the open spans of webhooks that get no more deliveries. Returns the new spans. */
function changed(open: Map<number, Growing>, webhooks: readonly Webhook[], revision: number): Growing[] {
  const active = new Map(webhooks.flatMap((webhook) => (isRouted(webhook) ? [[webhook.id, webhook]] : [])));
  for (const [id, span] of open) {
    if (active.has(id)) continue;
    span.until = revision;
    open.delete(id);
  }
  const begun = [...active.values()].filter(({ id }) => !open.has(id));
  return begun.map(({ id: webhookId, eventType }) => {
    const span = { webhookId, eventType, from: revision, until: Number.POSITIVE_INFINITY };
    open.set(webhookId, span);
    return span;
  });
}
