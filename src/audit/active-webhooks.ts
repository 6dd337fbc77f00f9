/**
 * At which revisions each of an account's webhooks got deliveries: while it was active, and while the service had switched
 * it off, which holds them. Folds the history once, answers for any revision.
 */
import { type EventStore, NO_STREAM, type RecordedEvent, StreamHidden } from '../ports/event-store.js';
import { AccountUnreadable } from '../read-model/account-unreadable.js';
import { isRouted } from '../read-model/accounts.js';
import { foldEach } from '../read-model/fold.js';
import { loadProjection, type Projection } from '../read-model/projection-source.js';
import { readIdentity } from '../read-model/store-identity.js';
import { accountStream } from '../webhooks/events.js';
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

/** The webhooks of the type that were active right after the event of that revision. */
export function activeAt({ spans }: ActiveSpans, eventType: EventType, revision: number): readonly number[] {
  const active = spans.filter((span) => span.eventType === eventType && span.from <= revision && revision < span.until);
  return active.map(({ webhookId }) => webhookId);
}

/** Whether the webhook is of the type, and was active right after the event of that revision or before. */
export function wasActive(
  { spans }: ActiveSpans,
  { webhookId, eventType }: Pick<ActiveSpan, 'webhookId' | 'eventType'>,
  revision: number,
): boolean {
  return spans.some((span) => span.webhookId === webhookId && span.eventType === eventType && span.from <= revision);
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

interface FoldedHistory {
  readonly spans: ActiveSpans;
  /** The requested revision: a store that ends before it is not read again and again. */
  readonly upTo: number;
}

export class Histories {
  readonly #projection = loadProjection('account-webhooks');
  readonly #accounts = new Map<number, FoldedHistory>();
  /** Why the streams of these accounts can't be read: so it can't be judged which of their webhooks were active. */
  readonly hidden = new Map<number, string>();
  readonly #store: Pick<EventStore, 'read'>;
  readonly identity: string | null;

  private constructor(store: Pick<EventStore, 'read'>, identity: string | null) {
    this.#store = store;
    this.identity = identity;
  }

  /** @throws StoreUnavailable */
  static async of(store: Pick<EventStore, 'read'>): Promise<Histories> {
    return new Histories(store, await readIdentity(store));
  }

  /**
   * Null if the account has no such revision, because the store was restored, or if its stream is hidden. An account that
   * changes during the audit is read again.
   * @throws StoreUnavailable
   */
  async upTo(accountId: number, revision: number): Promise<ActiveSpans | null> {
    if (this.hidden.has(accountId)) return null;
    try {
      return await this.#upTo(accountId, revision);
    } catch (error) {
      if (!(error instanceof StreamHidden)) throw error;
      this.#accounts.delete(accountId);
      this.hidden.set(accountId, error.why);
      return null;
    }
  }

  async #upTo(accountId: number, revision: number): Promise<ActiveSpans | null> {
    let known = this.#accounts.get(accountId);
    if (!known || (known.spans.revision < revision && known.upTo < revision)) {
      const spans = await activeSpans(this.#store.read(accountStream(accountId)), this.#projection);
      known = { spans, upTo: revision };
      this.#accounts.set(accountId, known);
    }
    return known.spans.revision < revision ? null : known.spans;
  }

  /** As read for the last request; null if there was none. */
  known(accountId: number): ActiveSpans | null {
    return this.#accounts.get(accountId)?.spans ?? null;
  }
}
