/** Shared by the operations on webhooks: the webhook that a path names, and the response to a refused command. */
import type { Context } from 'koa';
import type { Accounts } from '../../read-model/accounts.js';
import { webhooksText } from '../../webhooks/event-changes.js';
import type { HandledCommand } from '../../webhooks/handle-command.js';
import { type EventType, MAX_WEBHOOKS } from '../../webhooks/limits.js';
import type { AccountWebhooks, Webhook } from '../../webhooks/state.js';
import { ApiError, accountNotFound, badRequest, type FieldError, fieldError, registered } from '../api-error.js';
import { webhookIdIn } from '../query.js';
import { callerOf } from '../request-context.js';

const FULL = fieldError('url', `can't be added: the account has ${MAX_WEBHOOKS} webhooks; remove one of them`);

const TOO_LARGE = fieldError(
  'headers',
  "can't be accepted: the webhooks of the account would exceed 1 MiB in total; shorten headers or remove a webhook",
);

/** The id in /api/webhooks/{id}. @throws ApiError 404 for a text that can't be an id */
export function webhookIdOf(ctx: Context): number {
  const id = webhookIdIn(String(ctx.params.id));
  if (id === null) throw webhookNotFound();
  return id;
}

/** @param atLimit what a 400 says of the type that would exceed its limit @throws ApiError 404, 400, 409, 429 */
export function mustBeAccepted(decision: HandledCommand, atLimit?: (eventType: EventType) => FieldError): void {
  switch (decision.kind) {
    case 'accepted':
      break;
    case 'account-not-found':
      throw accountNotFound();
    case 'webhook-not-found':
      throw webhookNotFound();
    case 'url-taken':
      throw urlTaken('url', decision.webhookId);
    case 'limit-reached':
      throw atLimit
        ? badRequest([atLimit(decision.eventType)])
        : new Error('a limit for a command that makes nothing active');
    case 'account-full':
      throw badRequest([FULL]);
    case 'account-too-large':
      throw badRequest([TOO_LARGE]);
    case 'over-budget':
      throw overBudget(decision.retryAfterMs);
    case 'webhook-inactive':
      throw new ApiError(409, 'the webhook is inactive: activate it first');
    case 'recovery-running':
      throw new ApiError(409, recoveredText(decision.webhookIds));
    case 'recovery-not-found':
      throw new ApiError(404, 'recovery not found');
    default:
      decision satisfies never;
  }
}

export function urlTaken(field: string, webhookId: number): ApiError {
  return badRequest([fieldError(field, `is that of another webhook of the type (id ${webhookId})`)]);
}

function recoveredText(webhookIds: readonly number[]): string {
  const are = webhookIds.length === 1 ? 'is' : 'are';
  return `${webhooksText(webhookIds)} ${are} being recovered: wait for the end, or stop the recovery`;
}

/** False: everything was as the command wants it. */
export function changes(decision: HandledCommand): boolean {
  return decision.kind === 'accepted' && decision.events.length > 0;
}

export function overBudget(retryAfterMs: number): ApiError {
  const message = 'the account added too much to its history; Retry-After says when to ask again';
  return new ApiError(429, message, { headers: { 'retry-after': String(Math.ceil(retryAfterMs / 1000)) } });
}

function webhookNotFound(): ApiError {
  return new ApiError(404, 'webhook not found');
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
