/** GET /api/webhooks: the account's webhooks, including inactive ones, in order of creation. */
import type { Context } from 'koa';
import type { Accounts } from '../../read-model/accounts.js';
import type { Sealing } from '../../secrets/sealing.js';
import type { AccountWebhooks, Webhook } from '../../webhooks/state.js';
import { accountNotFound } from '../api-error.js';
import { type Link, type Operation, refusal } from '../operation.js';
import type { ReadLimit } from '../read-limit.js';
import { callerOf } from '../request-context.js';
import { EVENT_TYPE, TIME } from '../shared-schemas.js';
import { isLong, type UnsentAnswers } from '../unsent-answers.js';
import { openedHeaders } from './endpoint-fields.js';

const listingSchema = {
  title: 'WebhookList',
  description: 'The webhooks of an account.',
  type: 'object',
  required: ['accountId', 'webhooks', 'total'],
  properties: {
    accountId: { type: 'integer', description: 'The account that the token belongs to.' },
    webhooks: {
      type: 'array',
      description: 'All webhooks, active or not, in the order of their creation.',
      items: {
        title: 'Webhook',
        description: 'A URL that receives the payment events of one type.',
        type: 'object',
        required: ['id', 'type', 'url', 'headers', 'isActive', 'createdAt'],
        properties: {
          id: { type: 'integer', description: 'The id of the webhook, unique in the service. It never changes.' },
          type: EVENT_TYPE,
          url: { type: 'string', format: 'uri', description: 'The URL, exactly as it was last registered.' },
          headers: {
            type: 'object',
            additionalProperties: { type: 'string' },
            description: 'The headers that are sent with each event, by name. Empty if there are none.',
          },
          isActive: { type: 'boolean', description: 'Whether events are sent to the URL.' },
          createdAt: { ...TIME, description: 'When the webhook was first registered.' },
        },
      },
    },
    total: { type: 'integer', minimum: 0, description: 'The number of webhooks in the list.' },
  },
} as const;

const LINKS = {
  setWebhookActive: ofTheFirst('setWebhookActive', 'Activate or deactivate the first webhook of the list.'),
  removeWebhook: ofTheFirst('removeWebhook', 'Remove the first webhook of the list.'),
  listDeliveries: ofTheFirst('listDeliveries', 'List the deliveries of the first webhook of the list.'),
  testWebhook: ofTheFirst('testWebhook', 'Send a test event to the first webhook of the list.'),
};

/** A link can name one place in the body, not each of several. */
function ofTheFirst(operationId: string, description: string): Link {
  return { operationId, description, parameters: { id: '$response.body#/webhooks/0/id' } };
}

export const operation: Operation = {
  id: 'listWebhooks',
  method: 'get',
  path: '/api/webhooks',
  tag: 'Webhooks',
  summary: 'List webhooks',
  description: 'Lists all webhooks of the account, active or not, in the order of their creation.',
  security: 'bearer',
  rateLimit: 'reads',
  responses: {
    200: { description: 'The webhooks of the account.', schema: listingSchema, links: LINKS },
    404: refusal('The account is not registered.'),
  },
};

/** The limits on excessive reading. */
export interface Reading {
  readonly reads: ReadLimit;
  readonly unsent: UnsentAnswers;
}

export function listWebhooks(accounts: Accounts, sealing: Sealing, { reads, unsent }: Reading) {
  // Each state is serialised once: a changed state is a new object.
  const answers = new WeakMap<AccountWebhooks, string>();
  return async (ctx: Context): Promise<void> => {
    const { accountId } = callerOf(ctx);
    const turn = reads.turn(accountId);
    if (turn) await turn;
    const found = await accounts.webhooks(accountId);
    if (!found) throw accountNotFound();
    const known = answers.get(found);
    const isFree = known !== undefined && !isLong(known);
    const body = isFree ? known : reads.counted(accountId, () => known ?? answer(accountId, found, sealing));
    answers.set(found, body);
    unsent.mustTake(ctx, accountId, body);
    ctx.type = 'application/json';
    ctx.body = body;
  };
}

function answer(accountId: number, state: AccountWebhooks, sealing: Sealing): string {
  const webhooks = state.webhooks.map((webhook) => shown(accountId, webhook, sealing));
  return JSON.stringify({ accountId, webhooks, total: webhooks.length });
}

function shown(accountId: number, webhook: Webhook, sealing: Sealing) {
  const { id, eventType, url, isActive, createdAt } = webhook;
  const headers = openedHeaders(sealing, accountId, webhook.headers);
  return { id, type: eventType, url, headers, isActive, createdAt };
}
