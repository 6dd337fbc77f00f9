/** The histories of accounts, each folded on demand. */
import { type EventStore, StreamHidden } from '../ports/event-store.js';
import { loadProjection } from '../read-model/projection-source.js';
import { readIdentity } from '../read-model/store-identity.js';
import { accountStream } from '../webhooks/events.js';
import { type ActiveSpans, activeSpans } from './active-webhooks.js';

interface Known {
  readonly spans: ActiveSpans;
  /** The requested revision: a store that ends before it is not read again and again. */
  readonly upTo: number;
}

export class Histories {
  readonly #projection = loadProjection('account-webhooks');
  readonly #accounts = new Map<number, Known>();
  /** Why the streams of these accounts can't be read: so it can't be judged which of their webhooks were active. */
  readonly hidden = new Map<number, string>();
  readonly #store: Pick<EventStore, 'read'>;
  /** The identity of the store; null if it has none. */
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
