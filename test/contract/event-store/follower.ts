/** What the cases of the event store begin with: events, and a subscription that writes down all it is given. */
import { randomUUID } from 'node:crypto';
import {
  type Appended,
  type EventBatch,
  type EventStore,
  type NewEvent,
  NO_STREAM,
  type RecordedEvent,
  type SubscribeOptions,
} from '../../../src/ports/event-store.js';
import { type ContractCase, collect, type Feature, type Subject, soon, unique, within } from '../contract.js';

export type StoreSubject = Subject<EventStore>;
export type StoreCase = ContractCase<StoreSubject>;

export function event(data: NewEvent['data'] = {}, metadata: NewEvent['metadata'] = {}): NewEvent {
  return { id: randomUUID(), type: 'SomethingHappened', data, metadata };
}

/** Events numbered from `first` on. */
export function events(count: number, first = 0): NewEvent[] {
  return Array.from({ length: count }, (_, index) => event({ number: first + index }));
}

export const numbers = (recorded: readonly RecordedEvent[]) => recorded.map(({ data }) => data.number);
export const ids = (of: readonly { readonly id: string }[]) => of.map(({ id }) => id);
export const upTo = (count: number) => Array.from({ length: count }, (_, number) => number);

export class Follower {
  readonly batches: EventBatch[] = [];
  readonly events: RecordedEvent[] = [];
  /** How many events had come when each mark came, those of its own batch counted. */
  readonly marks: number[] = [];
  readonly ended: Promise<void>;
  failure: unknown = null;
  readonly #abort = new AbortController();

  constructor(store: EventStore, options: Omit<SubscribeOptions, 'signal'>) {
    this.ended = this.#follow(store, { ...options, signal: this.#abort.signal });
  }

  abort(): void {
    this.#abort.abort();
  }

  async #follow(store: EventStore, options: SubscribeOptions): Promise<void> {
    try {
      for await (const batch of store.subscribe(options)) {
        this.batches.push(batch);
        this.events.push(...batch.events);
        if (batch.caughtUp) this.marks.push(this.events.length);
      }
    } catch (error) {
      this.failure = error;
    }
  }
}

/** One case's view of the store: its own prefix, and subscriptions that end with it. */
export class Scenario {
  readonly prefix = unique('account');
  readonly #followers: Follower[] = [];

  constructor(readonly subject: StoreSubject) {}

  get store(): EventStore {
    return this.subject.port;
  }

  stream(name = ''): string {
    return this.prefix + name;
  }

  append(count: number, expected: number = NO_STREAM, stream = this.stream()): Promise<Appended> {
    return this.store.append(stream, events(count, expected + 1), expected);
  }

  read(stream = this.stream(), from?: number): Promise<RecordedEvent[]> {
    return within(this.subject, 'read did not end', collect(this.store.read(stream, from)));
  }

  follow(options: Partial<Omit<SubscribeOptions, 'signal'>> = {}, store = this.store): Follower {
    const follower = new Follower(store, { after: null, streamPrefix: this.prefix, ...options });
    this.#followers.push(follower);
    return follower;
  }

  /** A subscription that has its first caught-up mark. */
  async caughtUp(options: Partial<Omit<SubscribeOptions, 'signal'>> = {}, store = this.store): Promise<Follower> {
    const follower = this.follow(options, store);
    await this.soon('no caught-up mark came', () => follower.marks.length > 0);
    return follower;
  }

  soon(message: string, condition: () => unknown): Promise<unknown> {
    return soon(this.subject, message, condition);
  }

  within<T>(message: string, promise: Promise<T>): Promise<T> {
    return within(this.subject, message, promise);
  }

  async end(): Promise<void> {
    for (const follower of this.#followers) follower.abort();
    await this.within('a subscription did not end', Promise.all(this.#followers.map(({ ended }) => ended)));
  }
}

export function storeCase(name: string, act: (scenario: Scenario) => Promise<void>, needs?: Feature): StoreCase {
  const run = async (subject: StoreSubject) => {
    const scenario = new Scenario(subject);
    try {
      await act(scenario);
    } finally {
      await scenario.end();
    }
  };
  return needs ? { name, needs, run } : { name, run };
}
