import { type EventStore, StreamHidden } from '../ports/event-store.js';

/** Why the stream cannot be read from its first event on; null if it can. @throws StoreUnavailable */
export async function whyHidden(store: Pick<EventStore, 'read'>, stream: string): Promise<string | null> {
  try {
    for await (const _ of store.read(stream)) break;
    return null;
  } catch (error) {
    if (error instanceof StreamHidden) return error.why;
    throw error;
  }
}
