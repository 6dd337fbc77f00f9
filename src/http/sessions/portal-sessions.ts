/** /api/portal-sessions: the account's open sessions, oldest first, and the end of one. */
import type { Context } from 'koa';
import { openAt } from '../../accounts/decide-credentials.js';
import { RIGHTS } from '../../webhooks/limits.js';
import type { PortalSession } from '../../webhooks/state.js';
import { mustBeAccepted, registered } from '../api-error.js';
import type { ApiParts } from '../api-parts.js';
import { read, route, write } from '../operation.js';
import { readRoute } from '../read-answer.js';
import { callerOf, commandContext } from '../request-context.js';
import { list, object, oneOf, text, textOrNull, time } from '../schema.js';
import { SUCCESS } from '../shared-schemas.js';

const RIGHT = oneOf(
  RIGHTS,
  'What a session may do: `read` what the other rights do not name; read `payloads` and responses; `resend` and cancel; `configure` webhooks, notices and recoveries, and see the values of their headers; manage `secrets`: signing secrets, and the list and the end of sessions.',
  { title: 'Right' },
);

export const CAN = list('The rights of the session.', RIGHT, { minItems: 1, uniqueItems: true });
export const SESSION_ID = text('The id of the session.');

const PORTAL_SESSION = object('PortalSession', 'An open session.', {
  id: SESSION_ID,
  user: textOrNull('The user. Null if none was named.'),
  can: CAN,
  openedAt: time('When the session was opened.'),
  expiresAt: time('When the session ends.'),
});

const LIST_SESSIONS = read({
  id: 'listSessions',
  path: '/api/portal-sessions',
  summary: 'List open sessions',
  description: 'Lists the open sessions of the account, entered or not, oldest first.',
  right: 'secrets',
  responses: {
    200: object('PortalSessionList', 'The open sessions of the account.', {
      sessions: list('The sessions, oldest first.', PORTAL_SESSION),
    }),
  },
});

export function listSessions({ accounts, now, admission }: ApiParts) {
  return readRoute(LIST_SESSIONS, admission, async (accountId) => {
    const found = registered(await accounts.credentialsNow(accountId));
    return () => ({ sessions: openAt(found.credentials, now().toISOString()).map(shown) });
  });
}

function shown({ id, user, can, openedAt, until }: PortalSession) {
  return { id, user, can, openedAt, expiresAt: until };
}

const END_SESSION = write({
  id: 'endSession',
  method: 'delete',
  path: '/api/portal-sessions/{id}',
  summary: 'End a session',
  description: 'Ends a session of the account. Every process refuses it within a second.',
  right: 'secrets',
  pathId: text('The id of the session, as GET /api/portal-sessions shows it.'),
  responses: {
    200: { description: 'The session has ended.', schema: SUCCESS },
    404: 'The account has no open session with this id, or is not registered.',
  },
});

export function endSession(parts: ApiParts) {
  return route(END_SESSION, async (ctx) => {
    await end(ctx, String(ctx.params.id), parts);
    ctx.body = { success: true, message: 'session ended' };
  });
}

/** @throws ApiError 404 */
export async function end(ctx: Context, sessionId: string, { changeCredentials, now }: ApiParts): Promise<void> {
  const { accountId, actor } = callerOf(ctx);
  const command = { type: 'EndSession', sessionId, at: now().toISOString() } as const;
  mustBeAccepted(await changeCredentials(accountId, command, commandContext(ctx, actor)));
}
