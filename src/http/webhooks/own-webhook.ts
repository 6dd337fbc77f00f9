/** The webhook that a path names, of the caller's account. Before a 404 for an unknown webhook, the store is asked. */
import type { Context } from 'koa';
import type { Accounts } from '../../read-model/accounts.js';
import type { AccountWebhooks, Webhook } from '../../webhooks/state.js';
import { accountNotFound } from '../api-error.js';
import { callerOf } from '../request-context.js';
import { webhookIdOf, webhookNotFound } from './webhook-command.js';

interface Owned {
  readonly accountId: number;
  readonly webhook: Webhook;
}

/** @throws ApiError 404; StoreUnavailable */
export type OwnWebhook = (ctx: Context) => Promise<Owned>;

export function createOwnWebhook(accounts: Pick<Accounts, 'webhooks' | 'webhooksNow'>): OwnWebhook {
  return async (ctx) => {
    const { accountId } = callerOf(ctx);
    const id = webhookIdOf(ctx);
    const named = (known?: AccountWebhooks) => known?.webhooks.find((one) => one.id === id);
    const known = await accounts.webhooks(accountId);
    if (!known) throw accountNotFound();
    const webhook = named(known) ?? named(await accounts.webhooksNow(accountId));
    if (!webhook) throw webhookNotFound();
    return { accountId, webhook };
  };
}
