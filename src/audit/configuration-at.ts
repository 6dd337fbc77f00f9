/** An account's webhooks at a point in time: folds the events up to then, as the service does. */
import type { EventStore } from '../ports/event-store.js';
import { mustBeFoldable } from '../read-model/account-unreadable.js';
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
  const projection = loadProjection('account-webhooks');
  let state = projection.init() as AccountWebhooks;
  for await (const event of store.read(accountStream(accountId))) {
    if (Date.parse(timeOf(event.data) ?? '') > at) break;
    mustBeFoldable(event);
    state = projection.fold(state, event) as AccountWebhooks;
  }
  return state.accountId === null ? null : state.webhooks;
}
