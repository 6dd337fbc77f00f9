/** Searches for an event of an account or publisher, oldest first; can be paused and resumed. The history may be long. */
import type { EventStore, RecordedEvent } from '../ports/event-store.js';
import { accountEvent } from '../webhooks/envelope.js';
import { type AccountEvent, type ClientOwner, streamOf } from '../webhooks/events.js';

/** empty: there are no events. not-yet: the search is paused. */
export type Found = 'found' | 'not-found' | 'empty' | 'not-yet';

export class EventSearch {
  readonly #events: AsyncIterator<RecordedEvent>;
  readonly #isIt: (event: AccountEvent) => boolean;
  #isEmpty = true;

  constructor(store: Pick<EventStore, 'read'>, owner: ClientOwner, isIt: (event: AccountEvent) => boolean) {
    this.#events = store.read(streamOf(owner))[Symbol.asyncIterator]();
    this.#isIt = isIt;
  }

  /** @param ms after which the search pauses: nothing is read until the next call @throws StoreUnavailable */
  async within(ms = Number.POSITIVE_INFINITY): Promise<Found> {
    const until = performance.now() + ms;
    do {
      const { done, value } = await this.#events.next();
      if (done) return this.#isEmpty ? 'empty' : 'not-found';
      this.#isEmpty = false;
      if (this.#isIt(accountEvent(value))) return 'found';
    } while (performance.now() < until);
    return 'not-yet';
  }

  /** Always call this at the end, after errors too. */
  async close(): Promise<void> {
    await this.#events.return?.();
  }
}
