/** An account's webhooks at a point in time: folds the events up to then, as the service does. */
import type { EventStore, RecordedEvent } from '../ports/event-store.js';
import { foldAll } from '../read-model/fold.js';
import { loadProjection } from '../read-model/projection-source.js';
import { accountStream } from '../webhooks/events.js';
import type { AccountWebhooks, Webhook } from '../webhooks/state.js';
import { timeOf } from './log.js';

/**
 * In order of creation; header values stay sealed. Null if the account was not registered yet.
 * @param at ms since the epoch, inclusive
 * @throws StoreUnavailable; AccountUnreadable if an event up to then can't be folded
 */
export async function configurationAt(
  store: Pick<EventStore, 'read'>,
  accountId: number,
  at: number,
): Promise<readonly Webhook[] | null> {
  const events = upTo(at, store.read(accountStream(accountId)));
  const folded = await foldAll<AccountWebhooks>(loadProjection('account-webhooks'), events);
  return folded && folded.state.accountId !== null ? folded.state.webhooks : null;
}

async function* upTo(at: number, events: AsyncIterable<RecordedEvent>): AsyncIterable<RecordedEvent> {
  for await (const event of events) {
    if (Date.parse(timeOf(event.data) ?? '') > at) return;
    yield event;
  }
}
