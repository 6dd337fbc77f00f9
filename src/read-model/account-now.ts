/** An account's webhooks as the event store has them now, for commands, which have no read model. */
import { type EventStore, StreamHidden } from '../ports/event-store.js';
import { accountStream } from '../webhooks/events.js';
import type { AccountWebhooks } from '../webhooks/state.js';
import { AccountUnreadable, setAsideHidden } from './account-unreadable.js';
import type { Accounts } from './accounts.js';
import { foldAll } from './fold.js';
import { loadProjection } from './projection-source.js';

export type AccountNow = Pick<Accounts, 'webhook' | 'unreadable'>;

/** @throws StoreUnavailable */
export async function accountNow(store: Pick<EventStore, 'read'>, accountId: number): Promise<AccountNow> {
  const stream = accountStream(accountId);
  try {
    const folded = await foldAll<AccountWebhooks>(loadProjection('account-webhooks'), store.read(stream));
    return { unreadable: () => null, webhook: (_, id) => folded?.state.webhooks.find((webhook) => webhook.id === id) };
  } catch (error) {
    const unreadable = error instanceof StreamHidden ? new AccountUnreadable(stream, setAsideHidden(error)) : error;
    if (!(unreadable instanceof AccountUnreadable)) throw error;
    return { unreadable: () => unreadable.message, webhook: () => undefined };
  }
}
