/** An account's webhooks as the event store has them now, for commands, which have no read model. */
import { type EventStore, StreamHidden } from '../ports/event-store.js';
import { accountStream } from '../webhooks/events.js';
import type { AccountWebhooks } from '../webhooks/state.js';
import { setAsideBy, setAsideHidden, setAsideText } from './account-unreadable.js';
import type { Accounts } from './accounts.js';
import { whyUnfoldable } from './foldable.js';
import { loadProjection } from './projection-source.js';

export type AccountNow = Pick<Accounts, 'webhook' | 'unreadable'>;

/** @throws StoreUnavailable */
export async function accountNow(store: Pick<EventStore, 'read'>, accountId: number): Promise<AccountNow> {
  const projection = loadProjection('account-webhooks');
  let state = projection.init() as AccountWebhooks;
  try {
    for await (const event of store.read(accountStream(accountId))) {
      const why = whyUnfoldable(event);
      if (why !== null) return unreadable(setAsideText(event.stream, setAsideBy(event, why)));
      state = projection.fold(state, event) as AccountWebhooks;
    }
  } catch (error) {
    if (!(error instanceof StreamHidden)) throw error;
    return unreadable(setAsideText(error.stream, setAsideHidden(error)));
  }
  return { unreadable: () => null, webhook: (_, id) => state.webhooks.find((webhook) => webhook.id === id) };
}

function unreadable(why: string): AccountNow {
  return { unreadable: () => why, webhook: () => undefined };
}
