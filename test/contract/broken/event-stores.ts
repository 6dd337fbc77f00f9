/** Event stores that each violate one sentence of the contract, and the cases that must see it. */
import {
  type Appended,
  type EventBatch,
  type EventStore,
  NO_OBJECT,
  type RecordedEvent,
  WrongExpectedRevision,
} from '../../../src/ports/event-store.js';
import { CATCHES_UP } from '../event-store/subscribing.js';

/** @returns the methods that are wrong */
export type Breaking<Port> = (inner: Port) => Partial<Port>;
export type Broken<Port> = readonly [what: string, breaking: Breaking<Port>, ...caughtBy: string[]];

/** Only `subscribe` is wrong: each batch is replaced. */
function batches(change: (batch: EventBatch) => Iterable<EventBatch>): Breaking<EventStore> {
  return (inner) => ({
    async *subscribe(options) {
      for await (const batch of inner.subscribe(options)) yield* change(batch);
    },
  });
}

/** Only `read` is wrong: each event is replaced. */
function events(change: (event: RecordedEvent) => RecordedEvent): Breaking<EventStore> {
  return (inner) => ({
    async *read(...args) {
      for await (const event of inner.read(...args)) yield change(event);
    },
  });
}

function ignoresTheRevision(inner: EventStore): Partial<EventStore> {
  const append: EventStore['append'] = (stream, events, expected) =>
    inner.append(stream, events, expected).catch((error: unknown) => {
      if (error instanceof WrongExpectedRevision) return append(stream, events, error.actual);
      throw error;
    });
  return { append };
}

function isNotIdempotent(inner: EventStore): Partial<EventStore> {
  const seen = new Set<string>();
  return {
    async append(stream, events, expected) {
      if (events.some(({ id }) => seen.has(id))) throw new WrongExpectedRevision(stream, expected, expected + 1);
      for (const { id } of events) seen.add(id);
      return inner.append(stream, events, expected);
    },
  };
}

export const BROKEN_STORES: readonly Broken<EventStore>[] = [
  [
    'ignores the types of a read',
    (inner) => ({ read: (stream, from) => inner.read(stream, from) }),
    'read of some types gives only events of these types, from a revision on',
  ],
  [
    'loses appends',
    () => ({ append: async (_, { length }, expected) => ({ revision: expected + length, position: 'lost' }) }),
    'append stores its events in order, revisions counted from 0 over all appends',
  ],
  [
    'appends in parts',
    (inner) => ({
      async append(stream, events, expected) {
        let last: Appended = { revision: expected, position: '' };
        for (const [index, event] of events.entries()) last = await inner.append(stream, [event], expected + index);
        return last;
      },
    }),
    'append that is rejected stores none of its events',
    'append is atomic: a reader sees all of its events or none',
  ],
  [
    'ignores the expected revision',
    ignoresTheRevision,
    'append expecting an earlier revision rejects with WrongExpectedRevision and stores nothing',
    'of appends at once with one expected revision exactly one is stored',
  ],
  [
    'is not idempotent',
    isNotIdempotent,
    'append repeated with the same ids gives back the first result and stores nothing more',
    'an append that others have followed is repeated with its first result too',
    'the same append twice at once is stored once, and both have its result',
  ],
  [
    'gives data that is no object as an object',
    events((event) => ({ ...event, data: event.data === NO_OBJECT ? {} : event.data })),
    'data and metadata that are no object are NO_OBJECT, by read and by subscribe',
  ],
  [
    'gives data that is too long as nothing but an object',
    events((event) => ({ ...event, data: event.data === NO_OBJECT ? { a: '' } : event.data })),
    'data and metadata that are too long or nested too deeply are NO_OBJECT, by read and by subscribe',
    'data and metadata that are no object are NO_OBJECT, by read and by subscribe',
  ],
  [
    'subscribes in the wrong order',
    batches(({ events, ...rest }) => [{ events: events.toReversed(), ...rest }]),
    'subscribe gives the events of all streams with the prefix once each, as they were appended',
  ],
  [
    'skips events',
    batches(({ events, ...rest }) => [{ events: events.length > 100 ? events.slice(1) : events, ...rest }]),
    CATCHES_UP,
  ],
  [
    'says too early that a subscription has caught up',
    (inner) => ({
      async *subscribe(options) {
        yield { events: [], position: await inner.head(), caughtUp: true };
        yield* inner.subscribe(options);
      },
    }),
    'the caught-up mark comes after all of 1 events that were stored',
    'the caught-up mark comes after all of 2500 events that were stored',
  ],
  [
    'subscribes from the start, whatever the position',
    (inner) => ({ subscribe: (options) => inner.subscribe({ ...options, after: null }) }),
    'subscribe after a position gives what comes after it, also from within an append',
    'subscribe after "not a position", never given, rejects with OtherHistory',
  ],
  [
    'never passes events of other streams',
    (inner) => ({
      async *subscribe(options) {
        let position = await inner.head();
        for await (const batch of inner.subscribe(options)) {
          position = batch.events.at(-1)?.position ?? position;
          yield { ...batch, position };
        }
      },
    }),
    'a subscription passes every head, also where the last event is of another stream',
  ],
  [
    'ignores the prefix',
    (inner) => ({ subscribe: (options) => inner.subscribe({ ...options, streamPrefix: '' }) }),
    'subscribe gives no event of a stream that does not begin with the prefix',
  ],
  [
    'has subscriptions that outlive close',
    (inner) => ({
      async *subscribe(options) {
        yield* inner.subscribe(options);
        if (!options.signal.aborted) await new Promise((resolve) => options.signal.addEventListener('abort', resolve));
      },
    }),
    'close ends every subscription, those that wait and those that catch up',
  ],
];
