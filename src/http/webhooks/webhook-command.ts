/** Shared by commands, and by the operations on the webhook that a path names. */
import type { Context } from 'koa';
import type { Command } from '../../webhooks/decide.js';
import type { AccountWebhooks, Webhook } from '../../webhooks/state.js';
import { ApiError, mustBeAccepted, registered } from '../api-error.js';
import type { ApiParts } from '../api-parts.js';
import type { Commanded } from '../operation.js';
import { webhookIdIn } from '../query.js';
import { callerOf } from '../request-context.js';

/** The id in /api/webhooks/{id}. @throws ApiError 404 for a text that can't be an id */
export function webhookIdOf(ctx: Context): number {
  const id = webhookIdIn(String(ctx.params.id));
  if (id === null) throw new ApiError({ code: 'webhook-not-found' });
  return id;
}

/** @throws ApiError of a refusal */
export async function commanded({ handleCommand }: ApiParts, { accountId, context }: Commanded, command: Command) {
  const decision = await handleCommand(accountId, command, context);
  mustBeAccepted(decision);
  return decision;
}

/** The webhook of the path. Before a 404 for an unknown one, the store is asked. @throws ApiError 404; StoreUnavailable */
export async function ownWebhook(ctx: Context, { accounts }: Pick<ApiParts, 'accounts'>): Promise<Webhook> {
  const { accountId } = callerOf(ctx);
  const id = webhookIdOf(ctx);
  const named = (known?: AccountWebhooks) => known?.webhooks.find((one) => one.id === id);
  const known = registered(await accounts.webhooks(accountId));
  const webhook = named(known) ?? named(await accounts.webhooksNow(accountId));
  if (!webhook) throw new ApiError({ code: 'webhook-not-found' });
  return webhook;
}
