/** The webhook a path names, one of the caller's account. What is not known here is asked of the store before it is a 404. */
import type { Context } from 'koa';
import type { Caller } from '../accounts/access-tokens.js';
import type { EventStore } from '../ports/event-store.js';
import type { Accounts } from '../read-model/accounts.js';
import { accountEvent } from '../webhooks/envelope.js';
import { accountStream } from '../webhooks/events.js';
import { evolve, type Webhook } from '../webhooks/state.js';
import { accountNotFound } from './api-error.js';
import { webhookIdOf, webhookNotFound } from './webhook-command.js';

export interface Owned {
  readonly accountId: number;
  readonly webhook: Webhook;
}

/** @throws ApiError 404; StoreUnavailable */
export type OwnWebhook = (ctx: Context) => Promise<Owned>;

export function createOwnWebhook(accounts: Accounts, store: Pick<EventStore, 'read'>): OwnWebhook {
  return async (ctx) => {
    const { accountId } = ctx.state.caller as Caller;
    const id = webhookIdOf(ctx);
    const known = await accounts.webhooks(accountId);
    if (!known) throw accountNotFound();
    const named = (webhooks: readonly Webhook[]) => webhooks.find((webhook) => webhook.id === id);
    let { state } = known;
    if (!named(state.webhooks)) {
      // Another process may have registered it a moment ago.
      const since = store.read(accountStream(accountId), known.revision + 1);
      for await (const event of since) state = evolve(state, accountEvent(event));
    }
    const webhook = named(state.webhooks);
    if (!webhook) throw webhookNotFound();
    return { accountId, webhook };
  };
}
