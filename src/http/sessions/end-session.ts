/** DELETE /api/portal-sessions/{id}: ends a session, and those that were opened in it. */
import type { Context } from 'koa';
import type { ChangeCredentials } from '../../accounts/change-credentials.js';
import { type Operation, type Route, route, WRITE } from '../operation.js';
import { callerOf, commandContext } from '../request-context.js';
import { SUCCESS } from '../shared-schemas.js';
import { mustBeDone } from './credential-decision.js';
import { SESSION_ID_PARAMETER, SESSION_NOT_FOUND } from './session-schemas.js';

const END_SESSION: Operation = {
  id: 'endSession',
  ...WRITE,
  method: 'delete',
  path: '/api/portal-sessions/{id}',
  tag: 'Sessions',
  summary: 'End a session',
  description:
    'Ends a session of the account, and those that were opened in it. Every process refuses it within a second.',
  right: 'secrets',
  parameters: [SESSION_ID_PARAMETER],
  responses: {
    200: { description: 'The session has ended.', schema: SUCCESS },
    404: SESSION_NOT_FOUND,
  },
};

export function endSession(changeCredentials: ChangeCredentials, now: () => Date): Route {
  return route(END_SESSION, async (ctx) => {
    await end(ctx, String(ctx.params.id), changeCredentials, now);
    ctx.body = { success: true, message: 'session ended' };
  });
}

/** @throws ApiError 404 */
export async function end(
  ctx: Context,
  sessionId: string,
  changeCredentials: ChangeCredentials,
  now: () => Date,
): Promise<void> {
  const { accountId, actor } = callerOf(ctx);
  const command = { type: 'EndSession', sessionId, at: now().toISOString() } as const;
  mustBeDone(await changeCredentials(accountId, command, commandContext(ctx, actor)));
}
