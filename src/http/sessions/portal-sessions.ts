/** /api/portal-sessions: opens a session for a user of the account, who enters it by the URL in the response; lists and ends them. */
import type { Context } from 'koa';
import { newSessionId, newSessionSecret } from '../../accounts/client-credentials.js';
import { MAX_SESSIONS, openAt } from '../../accounts/decide-credentials.js';
import { parseUrl } from '../../endpoints/endpoint-url.js';
import { described, list, object, oneOf, optional, type Static, text, textOrNull, time, url } from '../../schema.js';
import { positiveDuration } from '../../settings/parsers.js';
import { RIGHTS, type Right } from '../../webhooks/limits.js';
import type { PortalSession } from '../../webhooks/state.js';
import { badRequest, fieldError, malformed, mustBeAccepted, registered } from '../api-error.js';
import type { ApiParts } from '../api-parts.js';
import { type Commanded, write } from '../operation.js';
import { mustBe } from '../query.js';
import { read } from '../read-answer.js';
import { callerOf } from '../request-context.js';
import { SUCCESS } from '../shared-schemas.js';

const RIGHT = oneOf(
  RIGHTS,
  'What a session may do: `read` what the other rights do not name; read `payloads` and responses; `resend` and cancel; `configure` webhooks, notices and recoveries, and see the values of their headers; manage `secrets`: signing secrets, and the list and the end of sessions.',
  { title: 'Right' },
);

export const CAN = list('The rights of the session.', RIGHT, { minItems: 1, uniqueItems: true });
const SESSION_ID = text('The id of the session.');

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
  usesReserve: true,
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
  usesReserve: true,
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

const LONGEST_MS = 3_600_000;
const CODE_MS = 60_000;
const DEFAULT_RIGHTS: readonly Right[] = ['read'];

/** No invisible characters, which could reorder a line, and no slash: the actor of a session is `<opener>/<user>`. */
const USER_PATTERN = /^[^\p{C}\p{Z}/]([^\p{C}\p{Zl}\p{Zp}/]{0,62}[^\p{C}\p{Z}/])?$/u;
/** Visible ASCII without backslashes: browsers drop tabs and take `\` for `/`, which could lead to another host. */
const PATH = /^\/(?!\/)[!-[\]-~]{0,2047}$/;
const HTTPS = /^https:\/\/[!-[\]-~]{1,2040}$/;

const REQUEST = object('PortalSessionRequest', 'The session to open.', {
  can: optional(described('The rights of the session. If absent, `read`.', CAN)),
  user: optional(
    text('The user: 1 to 64 visible characters, spaces only between them, no `/`.', { minLength: 1, maxLength: 64 }),
  ),
  lifetime: optional(
    text('How long the session lasts: a whole number and ms, s, m or h, up to 1h. If absent, 1h.', {
      pattern: '^[1-9][0-9]{0,8}(ms|s|m|h)$',
      examples: ['30m'],
    }),
  ),
  next: optional(
    text('The path of the console to show first: visible ASCII characters that begin with one `/`.', {
      pattern: PATH.source,
      examples: ['/payments'],
    }),
  ),
  returnUrl: optional(
    url('The https URL that leads back from the console.', {
      pattern: HTTPS.source,
      examples: ['https://portal.example.com/webhooks'],
    }),
  ),
});
type OpenSessionBody = Static<typeof REQUEST>;

export const openSession = write({
  id: 'openSession',
  method: 'post',
  path: '/api/portal-sessions',
  description: `Opens a session of the console, for example for a user of a payment company's own portal. The URL in the response contains a one-time code that is valid for 60 seconds: send the user's browser there. What is done in the session has the actor \`<client id>/<user>\`, or \`<client id>/console\` without a user. The session ends with the credential that opened it. Only a token opens one. At most ${MAX_SESSIONS} sessions of an account are open: the next one ends the oldest of the user with the most, among the sessions of the client with the most.`,
  security: 'token',
  body: { type: 'json', schema: REQUEST },
  returns: object('OpenedPortalSession', 'A session, and the way into it.', {
    id: SESSION_ID,
    url: url('The URL for the user, with the code in its fragment.'),
    expiresAt: time('When the session ends.'),
  }),
  status: 201,
}).answer(async ({ changeCredentials, randomBytes, publicUrl }, { ctx, accountId, body, context, at }) => {
  mustBeSound(body);
  const service = serviceUrl(ctx, publicUrl);
  const { user = null, can = DEFAULT_RIGHTS, next = null, returnUrl = null } = body;
  const sessionId = newSessionId(randomBytes);
  const code = newSessionSecret(accountId, sessionId, randomBytes);
  const actor = `${context.actor}/${user ?? 'console'}`;
  const { clientId } = callerOf(ctx);
  const until = later(at, lifetimeMs(body));
  const session = { sessionId, codeHash: code.hash, codeUntil: later(at, CODE_MS), until, openedAt: at };
  const data = { ...session, user, can, actor, clientId, next, returnUrl };
  mustBeAccepted(await changeCredentials(accountId, { type: 'OpenSession', data }, context));
  return { id: sessionId, url: `${service}/console#code=${code.text}`, expiresAt: until };
});

function later(at: string, ms: number): string {
  return new Date(Date.parse(at) + ms).toISOString();
}

function lifetimeMs({ lifetime = '1h' }: OpenSessionBody): number {
  return positiveDuration.parse(lifetime) ?? Number.POSITIVE_INFINITY;
}

/** @throws ApiError 400 that names every wrong field */
function mustBeSound(body: OpenSessionBody): void {
  const { user, next, returnUrl } = body;
  const wrong = Object.entries({
    user: user !== undefined && !USER_PATTERN.test(user) && '1 to 64 visible characters, spaces only inside, no /',
    lifetime: lifetimeMs(body) > LONGEST_MS && 'a whole number and ms, s, m or h, at most 1h',
    next: next !== undefined && !PATH.test(next) && 'a path of visible ASCII characters that begins with one /',
    returnUrl: returnUrl !== undefined && !isHttps(returnUrl) && 'an https URL without user and password',
  });
  const problems = wrong.flatMap(([field, why]) => (why ? [fieldError(field, mustBe(why))] : []));
  if (problems.length > 0) throw badRequest(problems);
}

function isHttps(given: string): boolean {
  const parsed = HTTPS.test(given) ? parseUrl(given) : null;
  return parsed !== null && parsed.username === '' && parsed.password === '';
}

/** A name or an address, and a port. Nothing else of a client's Host header is echoed. */
const HOST = /^([\w.-]{1,253}|\[[0-9a-f:.]{2,45}\])(:\d{1,5})?$/i;

/** Without a trailing slash. @param publicUrl null: the request's, not a proxy's TLS @throws ApiError 400: bad Host */
export function serviceUrl(ctx: Context, publicUrl: string | null): string {
  if (publicUrl !== null) return publicUrl;
  const { host = '' } = ctx.req.headers;
  if (HOST.test(host) && parseUrl(`http://${host}`) !== null) return `http://${host}`;
  throw malformed('Host', 'the host of the service, with its port');
}
