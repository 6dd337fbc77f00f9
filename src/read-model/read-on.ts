/** Reads a stream on from a known state, and checks that it is the stream which the state was folded from. */
import { type EventStore, OtherHistory, type RecordedEvent } from '../ports/event-store.js';
import type { Folded } from './folded-states.js';

/**
 * The events after the known state; all of them where none is known. The last known event is read again: it tells the
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
