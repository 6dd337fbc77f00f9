/** Reads a stream from a known state on, and checks that the state was folded from this stream. */
import { type EventStore, OtherHistory, type RecordedEvent } from '../ports/event-store.js';
import type { Folded } from './folded-states.js';

/**
 * The events after the known state; all events if there is none. Also reads the last known event again: it identifies the
 * history.
 * @throws OtherHistory, StoreUnavailable
 */
export async function* readOn(
  store: Pick<EventStore, 'read'>,
  stream: string,
  known: Folded<unknown> | undefined,
): AsyncIterable<RecordedEvent> {
  let isKnown = known === undefined;
  for await (const event of store.read(stream, known?.revision ?? 0)) {
    if (isKnown) yield event;
    else if (event.id !== known?.eventId) throw new OtherHistory('has other events than before: it was restored');
    isKnown = true;
  }
  if (!isKnown) throw new OtherHistory('ends earlier than before: it was restored');
}
