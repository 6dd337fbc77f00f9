/** /api/portal-sessions: the account's open sessions, oldest first, and the end of one. */
import type { Context } from 'koa';
import type { ChangeCredentials } from '../../accounts/change-credentials.js';
import { openAt } from '../../accounts/decide-credentials.js';
import type { Accounts } from '../../read-model/accounts.js';
import { RIGHTS } from '../../webhooks/limits.js';
import type { PortalSession } from '../../webhooks/state.js';
import { registered } from '../api-error.js';
import { type Operation, pathId, READ, type Route, refusal, route, WRITE } from '../operation.js';
import { type Reading, readRoute } from '../read-answer.js';
import { callerOf, commandContext } from '../request-context.js';
import { SUCCESS, TIME } from '../shared-schemas.js';
import { mustBeDone } from './credential-decision.js';

const RIGHT = {
  title: 'Right',
  description:
    'What a session may do: `read` what the other rights do not name; read `payloads` and responses; `resend` and cancel; `configure` webhooks, notices and recoveries, and see the values of their headers; manage `secrets`: signing secrets and sessions.',
  enum: RIGHTS,
} as const;

export const CAN = {
  type: 'array',
  minItems: 1,
  uniqueItems: true,
  items: RIGHT,
  description: 'The rights of the session.',
} as const;

export const SESSION_ID = { type: 'string', description: 'The id of the session.' } as const;

const SESSION_ID_PARAMETER = pathId('The id of the session, as GET /api/portal-sessions shows it.');

const SESSION_NOT_FOUND = refusal('The account has no open session with this id, or is not registered.');

const schema = {
  title: 'PortalSessionList',
  description: 'The open sessions of an account.',
  type: 'object',
  required: ['sessions'],
  properties: {
    sessions: {
      type: 'array',
      description: 'The sessions, oldest first.',
      items: {
        title: 'PortalSession',
        description: 'An open session.',
        type: 'object',
        required: ['id', 'user', 'can', 'openedAt', 'expiresAt'],
        properties: {
          id: SESSION_ID,
          user: { type: ['string', 'null'], description: 'The user. Null if none was named.' },
          can: CAN,
          openedAt: { ...TIME, description: 'When the session was opened.' },
          expiresAt: { ...TIME, description: 'When the session ends.' },
        },
      },
    },
  },
} as const;

const LIST_SESSIONS: Operation = {
  id: 'listSessions',
  ...READ,
  path: '/api/portal-sessions',
  tag: 'Sessions',
  summary: 'List open sessions',
  description: 'Lists the open sessions of the account, entered or not, oldest first.',
  right: 'secrets',
  responses: {
    200: { description: 'The open sessions of the account.', schema },
    404: refusal('The account is not registered.'),
  },
};

export function listSessions(accounts: Pick<Accounts, 'credentialsNow'>, now: () => Date, reading: Reading): Route {
  return readRoute(LIST_SESSIONS, reading, async (accountId) => {
    const found = registered(await accounts.credentialsNow(accountId));
    return () => ({ sessions: openAt(found.credentials, now().toISOString()).map(shown) });
  });
}

function shown({ id, user, can, openedAt, until }: PortalSession) {
  return { id, user, can, openedAt, expiresAt: until };
}

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
