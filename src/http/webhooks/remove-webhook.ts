/** DELETE /api/webhooks/{id}: ends the webhook's deliveries; its history stays. */
import type { Context } from 'koa';
import type { HandleCommand } from '../../webhooks/handle-command.js';
import { type Operation, WEBHOOK_ID, WEBHOOK_NOT_FOUND } from '../operation.js';
import { callerOf, commandContext } from '../request-context.js';
import { SUCCESS } from '../shared-schemas.js';
import { mustBeAccepted, webhookIdOf } from './webhook-command.js';

export const operation: Operation = {
  id: 'removeWebhook',
  method: 'delete',
  path: '/api/webhooks/{id}',
  tag: 'Webhooks',
  summary: 'Remove a webhook',
  description:
    'Removes a webhook from the list. It receives no more events. Its waiting deliveries are cancelled when their next attempt is due.',
  security: 'bearer',
  right: 'configure',
  rateLimit: 'writes',
  parameters: [WEBHOOK_ID],
  responses: {
    200: { description: 'The webhook is removed.', schema: SUCCESS },
    404: WEBHOOK_NOT_FOUND,
  },
};

export function removeWebhook(handleCommand: HandleCommand, now: () => Date) {
  return async (ctx: Context): Promise<void> => {
    const { accountId, actor } = callerOf(ctx);
    const command = { type: 'RemoveWebhook', webhookId: webhookIdOf(ctx), at: now().toISOString() } as const;
    mustBeAccepted(await handleCommand(accountId, command, commandContext(ctx, actor)));
    ctx.body = { success: true, message: 'webhook removed' };
  };
}
