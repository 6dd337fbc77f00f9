/** DELETE /api/webhooks/{id}: nothing more is sent to it; its history stays. */
import type { Context } from 'koa';
import type { Caller } from '../accounts/access-tokens.js';
import type { HandleCommand } from '../webhooks/handle-command.js';
import { DONE, type Operation, refusal, WEBHOOK_ID } from './operation.js';
import { commandContext } from './request-context.js';
import { mustBeAccepted, webhookIdOf } from './webhook-command.js';

export const operation: Operation = {
  id: 'removeWebhook',
  method: 'delete',
  path: '/api/webhooks/{id}',
  summary: 'Removes a webhook; what is on its way to it is cancelled.',
  security: 'bearer',
  rateLimit: 'writes',
  parameters: [WEBHOOK_ID],
  responses: {
    200: { description: 'Removed.', schema: DONE },
    404: refusal('The account has no webhook of this id (any more), or is not known.'),
  },
};

export function removeWebhook(handleCommand: HandleCommand, now: () => Date) {
  return async (ctx: Context): Promise<void> => {
    const { accountId, actor } = ctx.state.caller as Caller;
    const command = { type: 'RemoveWebhook', webhookId: webhookIdOf(ctx), at: now().toISOString() } as const;
    mustBeAccepted(await handleCommand(accountId, command, commandContext(ctx, actor)));
    ctx.body = { success: true, message: 'webhook removed' };
  };
}
