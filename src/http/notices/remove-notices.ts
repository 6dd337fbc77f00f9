import type { HandleCommand } from '../../webhooks/handle-command.js';
import { type Operation, type Route, refusal, route } from '../operation.js';
import { callerOf, commandContext } from '../request-context.js';
import { SUCCESS } from '../shared-schemas.js';
import { mustBeAccepted } from '../webhooks/webhook-command.js';

const REMOVE_NOTICES: Operation = {
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

export function removeNotices(handleCommand: HandleCommand, now: () => Date): Route {
  return route(REMOVE_NOTICES, async (ctx) => {
    const { accountId, actor } = callerOf(ctx);
    const command = { type: 'RemoveNotices', at: now().toISOString() } as const;
    mustBeAccepted(await handleCommand(accountId, command, commandContext(ctx, actor)));
    ctx.body = { success: true, message: 'no notices are sent' };
  });
}
