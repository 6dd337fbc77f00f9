import { openAt } from '../../accounts/decide-credentials.js';
import { list, object, oneOf, text, textOrNull, time } from '../../schema.js';
import { RIGHTS } from '../../webhooks/limits.js';
import type { PortalSession } from '../../webhooks/state.js';
import { mustBeAccepted, registered } from '../api-error.js';
import type { ApiParts } from '../api-parts.js';
import { type Commanded, write } from '../operation.js';
import { read } from '../read-answer.js';
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

export const listSessions = read({
  id: 'listSessions',
  path: '/api/portal-sessions',
  description: 'Lists the open sessions of the account, entered or not, oldest first.',
  right: 'secrets',
  returns: object('PortalSessionList', 'The open sessions of the account.', {
    sessions: list('The sessions, oldest first.', PORTAL_SESSION),
  }),
}).answer(async ({ accounts, now }, { accountId }) => {
  const found = registered(await accounts.credentialsNow(accountId));
  return () => ({ sessions: openAt(found.credentials, now().toISOString()).map(shown) });
});

function shown({ id, user, can, openedAt, until }: PortalSession) {
  return { id, user, can, openedAt, expiresAt: until };
}

export const endSession = write({
  id: 'endSession',
  method: 'delete',
  path: '/api/portal-sessions/{id}',
  description: 'Ends a session of the account. Every process refuses it within a second.',
  right: 'secrets',
  returns: SUCCESS,
}).answer(async (parts, asked) => {
  await end(parts, asked, String(asked.ctx.params.id));
  return { success: true, message: 'session ended' };
});

/** @throws ApiError 404 */
export async function end({ changeCredentials }: ApiParts, asked: Commanded, sessionId: string): Promise<void> {
  const { accountId, context, at } = asked;
  mustBeAccepted(await changeCredentials(accountId, { type: 'EndSession', sessionId, at }, context));
}
