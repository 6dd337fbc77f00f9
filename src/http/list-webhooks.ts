/** GET /api/webhooks: the account's webhooks, inactive ones too, in the order they were created. */
import type { Context } from 'koa';
import type { Caller } from '../accounts/access-tokens.js';
import type { Accounts } from '../read-model/accounts.js';
import { headerPlace, type Sealing } from '../secrets/sealing.js';
import { EVENT_TYPES } from '../webhooks/limits.js';
import type { AccountWebhooks, Webhook } from '../webhooks/state.js';
import { accountNotFound } from './api-error.js';
import { type Operation, refusal } from './operation.js';

export const listingSchema = {
  type: 'object',
  required: ['accountId', 'webhooks', 'total'],
  properties: {
    accountId: { type: 'integer' },
    webhooks: {
      type: 'array',
      items: {
        type: 'object',
        required: ['id', 'type', 'url', 'headers', 'isActive', 'createdAt'],
        properties: {
          id: { type: 'integer' },
          type: { enum: EVENT_TYPES },
          url: { type: 'string' },
          headers: { type: 'object', additionalProperties: { type: 'string' } },
          isActive: { type: 'boolean' },
          createdAt: { type: 'string', format: 'date-time' },
        },
      },
    },
    total: { type: 'integer', minimum: 0 },
  },
} as const;

export const operation: Operation = {
  id: 'listWebhooks',
  method: 'get',
  path: '/api/webhooks',
  summary: "Lists the account's webhooks, inactive ones too, in the order they were created.",
  security: 'bearer',
  responses: {
    200: { description: 'All of them.', schema: listingSchema },
    404: refusal('The account is not known.'),
  },
};

export function listWebhooks(accounts: Accounts, sealing: Sealing) {
  // The answer is made once per state: a state that changes is another object.
  const answers = new WeakMap<AccountWebhooks, string>();
  return async (ctx: Context): Promise<void> => {
    const { accountId } = ctx.state.caller as Caller;
    const found = await accounts.webhooks(accountId);
    if (!found) throw accountNotFound();
    const known = answers.get(found.state) ?? answer(accountId, found.state, sealing);
    answers.set(found.state, known);
    ctx.type = 'application/json';
    ctx.body = known;
  };
}

function answer(accountId: number, state: AccountWebhooks, sealing: Sealing): string {
  const webhooks = state.webhooks.map((webhook) => shown(accountId, webhook, sealing));
  return JSON.stringify({ accountId, webhooks, total: webhooks.length });
}

function shown(accountId: number, webhook: Webhook, sealing: Sealing) {
  const { id, eventType, url, isActive, createdAt } = webhook;
  // Without a prototype, __proto__ is a name like any other.
  const headers: Record<string, string> = Object.create(null);
  for (const { key, sealed } of webhook.headers) headers[key] = sealing.open(sealed, headerPlace(accountId, key));
  return { id, type: eventType, url, headers, isActive, createdAt };
}
