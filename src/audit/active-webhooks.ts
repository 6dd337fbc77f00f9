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
import type { AccountWebhooks } from '../webhooks/state.js';

interface ActiveSpan {
  readonly webhook: number;
  readonly type: EventType;
  /** The revision of the event that added or activated it. */
  readonly since: number;
  /** The revision of the event by which the account switched it off or removed it; Infinity without one. */
  until: number;
}

/**
 * Stops at an event that can't be folded: later events don't affect routing. The revision is the last one's; NO_STREAM if
 * there is none. @throws errors of the history
 */
export async function activeSpans(history: AsyncIterable<RecordedEvent>, projection: Projection) {
  const spans: ActiveSpan[] = [];
  let revision = NO_STREAM;
  try {
    for await (const { state, revision: at } of foldEach<AccountWebhooks>(projection, history)) {
      revision = at;
      const active = state.webhooks.filter(isRouted);
      const open = spans.filter(({ until }) => until > at);
      for (const span of open) if (!active.some(({ id }) => id === span.webhook)) span.until = at;
      const begun = active.filter(({ id }) => !open.some(({ webhook }) => webhook === id));
      spans.push(...begun.map(({ id, eventType }) => ({ webhook: id, type: eventType, since: at, until: Infinity })));
    }
  } catch (error) {
    if (!(error instanceof AccountUnreadable)) throw error;
  }
  return { spans, revision };
}
