/** GET /api/webhooks: the account's webhooks, inactive ones too, in the order they were created. */
import type { Context } from 'koa';
import type { Caller } from '../accounts/access-tokens.js';
import type { Accounts } from '../read-model/accounts.js';
import { headerPlace, type Sealing } from '../secrets/sealing.js';
import type { AccountWebhooks, Webhook } from '../webhooks/state.js';
import { accountNotFound } from './api-error.js';

export function listWebhooks(accounts: Accounts, sealing: Sealing) {
  // The answer is made once per state: a state that changes is another object.
  const answers = new WeakMap<AccountWebhooks, string>();
  return async (ctx: Context): Promise<void> => {
    const { accountId } = ctx.state.caller as Caller;
    const found = await accounts.webhooks(accountId);
    if (!found) throw accountNotFound();
    const known = answers.get(found.state) ?? answer(accountId, found.state, sealing);
    answers.set(found.state, known);
    ctx.set('cache-control', 'no-store');
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
