import type { EventStore, RecordedEvent } from '../ports/event-store.js';

/** The service's view of streams with this prefix: through a subscription, until it has caught up. */
export async function* stored(
  store: EventStore,
  after: string | null,
  streamPrefix: string,
): AsyncIterable<RecordedEvent> {
  const until = new AbortController();
  try {
    for await (const { events, caughtUp } of store.subscribe({ after, streamPrefix, signal: until.signal })) {
      yield* events;
      if (caughtUp) return;
    }
  } finally {
    until.abort();
  }
}
