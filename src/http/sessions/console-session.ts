/** /console/session: the session of a browser. POST trades the one-time code for a cookie; GET shows it, DELETE ends it, as the header x-console names it. */
import { newSessionSecret, sessionSecretIn } from '../../accounts/client-credentials.js';
import { object, text, textOrNull, time, whole } from '../../schema.js';
import type { PortalSession } from '../../webhooks/state.js';
import { mustBeAccepted } from '../api-error.js';
import type { ApiParts } from '../api-parts.js';
import { operation, route, write } from '../operation.js';
import { callerOf, commandContext } from '../request-context.js';
import { SUCCESS } from '../shared-schemas.js';
import { CAN, end, endSession, listSessions, openSession } from './portal-sessions.js';
import { previewSession } from './preview-session.js';
import { CODE, findByCode, readCode } from './session-code.js';
import { createSessionCookies } from './session-cookie.js';

const COMMON = { path: '/console/session' } as const;

const SESSION = object('ConsoleSession', 'The session of a browser.', {
  id: text('The id of the session, as the list of sessions has it.'),
  account: whole('The account.'),
  user: textOrNull('The user. Null if none was named.'),
  can: CAN,
  expiresAt: time('When the session ends.'),
  next: textOrNull('The path to show first. Null if none was given.'),
  returnUrl: textOrNull('The URL that leads back. Null if none was given.'),
});

const ENTER_SESSION = operation({
  ...COMMON,
  id: 'enterSession',
  method: 'post',
  description:
    'Trades the one-time code of a session for a cookie. The cookie then authenticates requests without a Bearer token whose header `X-Console` is the id of the session. An earlier session of the same account, user and rights, whose cookie the request has, ends.',
  security: 'none',
  body: { type: 'json', schema: CODE },
  returns: SESSION,
  sets: {
    'Set-Cookie': 'The cookie of the session. Others clear those of sessions that ended, and the oldest beyond 20.',
  },
  refusals: {
    400: 'The code is not valid, was used, or has expired.',
    429: 'Too many requests of the account wait. Retry-After says when to try again.',
    503: 'The event store is unavailable. Retry-After says when to try again.',
  },
});

const SHOW_SESSION = operation({
  ...COMMON,
  id: 'showSession',
  method: 'get',
  description: 'Returns the session that `X-Console` names.',
  security: 'session',
  returns: SESSION,
});

const leaveSession = write({
  ...COMMON,
  id: 'leaveSession',
  method: 'delete',
  description: 'Ends the session that `X-Console` names, and clears the cookie.',
  security: 'session',
  usesReserve: true,
  returns: SUCCESS,
  sets: { 'Set-Cookie': 'Clears the cookie of the session.' },
  refusals: { 404: 'The session ended meanwhile.' },
}).answer(async (parts, asked) => {
  const sessionId = callerOf(asked.ctx).session?.id ?? '';
  await end(parts, asked, sessionId);
  createSessionCookies(parts.publicUrl).clear(asked.ctx, sessionId);
  return { success: true, message: 'session ended' };
});

function enterSession({ accounts, changeCredentials, publicUrl, randomBytes, reserve, now }: ApiParts) {
  const cookies = createSessionCookies(publicUrl);
  return route(ENTER_SESSION, async (ctx) => {
    const { code } = await readCode(ctx);
    const { accountId, codeHash, session } = await findByCode(code, accounts);
    const sessionId = session.id;
    const { text: value, hash: cookieHash } = newSessionSecret(accountId, sessionId, randomBytes);
    const secrets = [...cookies.of(ctx).values()].flatMap((text) => sessionSecretIn(text) ?? []);
    const former = secrets.filter((secret) => secret.accountId === accountId);
    const at = now();
    const entry = { sessionId, codeHash, cookieHash, former, at: at.toISOString() };
    const command = { type: 'EnterSession', ...entry } as const;
    // A user who signs in may want to shut out the one who floods the account.
    const requester = reserve.requester(accountId, sessionId);
    const context = { ...commandContext(ctx, session.actor), requester };
    const decision = await changeCredentials(accountId, command, context);
    mustBeAccepted(decision);
    const lifetimeMs = Date.parse(session.until) - at.getTime();
    const ended = decision.events.flatMap(({ type, data }) => (type === 'PortalSessionEnded' ? [data.sessionId] : []));
    cookies.set(ctx, { sessionId, value, lifetimeMs }, ended);
    ctx.body = shown(accountId, session);
  });
}

function showSession() {
  return route(SHOW_SESSION, (ctx) => {
    const { accountId, session } = callerOf(ctx);
    ctx.body = shown(accountId, session as PortalSession);
  });
}

function shown(account: number, { id, user, can, until, next, returnUrl }: PortalSession) {
  return { id, account, user, can, expiresAt: until, next, returnUrl };
}

export const routes = (parts: ApiParts) => [
  openSession(parts),
  listSessions(parts),
  endSession(parts),
  previewSession(parts),
  enterSession(parts),
  showSession(),
  leaveSession(parts),
];
