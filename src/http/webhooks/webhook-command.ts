/** Shared by the operations on webhooks: the webhook that a path names. */
import type { Context } from 'koa';
import type { Accounts } from '../../read-model/accounts.js';
import type { HandledCommand } from '../../webhooks/handle-command.js';
import type { AccountWebhooks, Webhook } from '../../webhooks/state.js';
import { ApiError, registered } from '../api-error.js';
import { webhookIdIn } from '../query.js';
import { callerOf } from '../request-context.js';

/** The id in /api/webhooks/{id}. @throws ApiError 404 for a text that can't be an id */
export function webhookIdOf(ctx: Context): number {
  const id = webhookIdIn(String(ctx.params.id));
  if (id === null) throw webhookNotFound();
  return id;
}

/** False: everything was as the command wants it. */
export function changes(decision: HandledCommand): boolean {
  return decision.kind === 'accepted' && decision.events.length > 0;
}

function webhookNotFound(): ApiError {
  return new ApiError({ code: 'webhook-not-found' });
}

interface Owned {
  readonly accountId: number;
  readonly webhook: Webhook;
}

/** @throws ApiError 404; StoreUnavailable */
export type OwnWebhook = (ctx: Context) => Promise<Owned>;

/** Before a 404 for an unknown webhook, the store is asked. */
export function createOwnWebhook(accounts: Pick<Accounts, 'webhooks' | 'webhooksNow'>): OwnWebhook {
  return async (ctx) => {
    const { accountId } = callerOf(ctx);
    const id = webhookIdOf(ctx);
    const named = (known?: AccountWebhooks) => known?.webhooks.find((one) => one.id === id);
    const known = registered(await accounts.webhooks(accountId));
    const webhook = named(known) ?? named(await accounts.webhooksNow(accountId));
    if (!webhook) throw webhookNotFound();
    return { accountId, webhook };
  };
}
