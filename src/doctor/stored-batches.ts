import type { EventBatch, EventStore } from '../ports/event-store.js';

/** The service's view of streams with this prefix: through a subscription, until it has caught up. */
export async function* storedBatches(
  store: EventStore,
  after: string | null,
  streamPrefix: string,
): AsyncIterable<EventBatch> {
  const until = new AbortController();
  try {
    for await (const batch of store.subscribe({ after, streamPrefix, signal: until.signal })) {
      yield batch;
      if (batch.caughtUp) return;
    }
  } finally {
    until.abort();
  }
}
