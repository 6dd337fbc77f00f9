/** DELETE /api/notices: the account gets no more notices. */
import type { Context } from 'koa';
import type { HandleCommand } from '../../webhooks/handle-command.js';
import { type Operation, refusal } from '../operation.js';
import { callerOf, commandContext } from '../request-context.js';
import { SUCCESS } from '../shared-schemas.js';
import { mustBeAccepted } from '../webhooks/webhook-command.js';

export const operation: Operation = {
  id: 'removeNotices',
  method: 'delete',
  path: '/api/notices',
  tag: 'Notices',
  summary: 'Send no more notices',
  description: 'Removes the notice URL. Notices that wait for their next attempt are not sent either.',
  security: 'bearer',
  right: 'configure',
  rateLimit: 'writes',
  responses: {
    200: { description: 'The account has no notice URL. Also returned if it had none.', schema: SUCCESS },
    404: refusal('The account is not registered.'),
  },
};

export function removeNotices(handleCommand: HandleCommand, now: () => Date) {
  return async (ctx: Context): Promise<void> => {
    const { accountId, actor } = callerOf(ctx);
    const command = { type: 'RemoveNotices', at: now().toISOString() } as const;
    mustBeAccepted(await handleCommand(accountId, command, commandContext(ctx, actor)));
    ctx.body = { success: true, message: 'no notices are sent' };
  };
}
