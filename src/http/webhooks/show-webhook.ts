/** GET /api/webhooks/{id}: one webhook, as the list shows it. */
import type { Context } from 'koa';
import type { Sealing } from '../../secrets/sealing.js';
import { type Operation, WEBHOOK_ID, WEBHOOK_NOT_FOUND } from '../operation.js';
import { answerRead } from '../read-answer.js';
import type { Reading } from './list-webhooks.js';
import type { OwnWebhook } from './own-webhook.js';
import { shownWebhook, valuesFor, WEBHOOK } from './shown-webhook.js';

export const operation: Operation = {
  id: 'showWebhook',
  method: 'get',
  path: '/api/webhooks/{id}',
  tag: 'Webhooks',
  summary: 'Get a webhook',
  description: 'Returns one webhook of the account, active or not.',
  security: 'bearer',
  rateLimit: 'reads',
  parameters: [WEBHOOK_ID],
  responses: {
    200: {
      description: 'The webhook.',
      schema: {
        title: 'OneWebhook',
        description: 'A webhook of the account.',
        type: 'object',
        required: ['webhook'],
        properties: { webhook: WEBHOOK },
      },
    },
    404: WEBHOOK_NOT_FOUND,
  },
};

export function showWebhook(ownWebhook: OwnWebhook, sealing: Sealing, reading: Reading) {
  return (ctx: Context): Promise<void> =>
    answerRead(ctx, reading, async (accountId) => {
      const { webhook } = await ownWebhook(ctx);
      return () => ({ webhook: shownWebhook(accountId, webhook, valuesFor(ctx, sealing)) });
    });
}
