/**
 * A read model that lags: it learns of new webhooks only when the test allows. It knows everything stored before its
 * start.
 */
import type { EventStore, SubscribeOptions } from '../../../src/ports/event-store.js';
import { bound } from '../servers/bound-store.js';

export class HeldReadModel {
  readonly #mayGo: Promise<void>;
  letGo: () => void = () => undefined;
  #store: EventStore | undefined;

  constructor() {
    this.#mayGo = new Promise((resolve) => {
      this.letGo = resolve;
    });
  }

  /** The underlying store, which does not lag. */
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
