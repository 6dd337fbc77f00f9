/** A read model that gets to know of webhooks only when the test lets it, as one that is behind. What was stored before it started it knows. */
import type { EventStore, SubscribeOptions } from '../../src/ports/event-store.js';
import { bound } from './bound-store.js';

export class HeldReadModel {
  readonly #mayGo: Promise<void>;
  letGo: () => void = () => undefined;
  #store: EventStore | undefined;

  constructor() {
    this.#mayGo = new Promise((resolve) => {
      this.letGo = resolve;
    });
  }

  /** The store it is over, which is not held. */
  get store(): EventStore {
    if (!this.#store) throw new Error('there is no read model yet');
    return this.#store;
  }

  /** For startBareApi. */
  readonly over = (real: EventStore): EventStore => {
    this.#store = real;
    return { ...bound(real), subscribe: (options) => this.#held(real, options) };
  };

  async *#held(real: EventStore, options: SubscribeOptions) {
    let isLive = false;
    for await (const batch of real.subscribe(options)) {
      if (isLive && batch.events.some(({ type }) => type === 'WebhookAdded')) await this.#mayGo;
      yield batch;
      isLive ||= batch.caughtUp;
    }
  }
}
