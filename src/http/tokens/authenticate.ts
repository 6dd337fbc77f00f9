/**
 * Checks the bearer token of a request (RFC 6750): puts its account in ctx.state.caller, or its publisher in
 * ctx.state.publisher. Otherwise the answer is 401, 403 for a token of the other kind, or 503 if the token can't be
 * verified now.
 */
import type { Context } from 'koa';
import {
  KeysUnavailable,
  type Publisher,
  type TokenHolder,
  type Verification,
  type VerifyToken,
} from '../../accounts/access-tokens.js';
import { sessionSecretIn } from '../../accounts/client-credentials.js';
import type { Accounts } from '../../read-model/accounts.js';
import type { Right } from '../../webhooks/limits.js';
import type { PortalSession } from '../../webhooks/state.js';
import { ApiError, CHALLENGE, retryAfter } from '../api-error.js';
import type { ApiParts } from '../api-parts.js';
import type { Problem } from '../error-codes.js';
import { may } from '../request-context.js';
import { createSessionCookies } from '../sessions/session-cookie.js';

/** Who asks, by the security of an operation. @throws ApiError 401, 403, 503 */
export function createAuthentication({ verifyToken, accounts, publicUrl, now }: ApiParts) {
  const cookies = createSessionCookies(publicUrl);
  const token = async (ctx: Context): Promise<void> => {
    const holder = await holderOf(ctx, verifyToken, accounts);
    if (isPublisher(holder)) throw forbidden({ code: 'account-token-required' });
    ctx.state.caller = holder;
  };
  const publisher = async (ctx: Context): Promise<void> => {
    const holder = await holderOf(ctx, verifyToken, accounts);
    if (!isPublisher(holder)) throw forbidden({ code: 'publisher-token-required' });
    ctx.state.publisher = holder;
  };
  /**
   * The session that the header x-console names, by its cookie. A browser adds its cookies to requests of every page of the
   * same site; the header only a script of this origin can set, since no CORS answer allows it to another.
   */
  const session = async (ctx: Context): Promise<void> => {
    const named = ctx.get('x-console');
    const secret = sessionSecretIn(cookies.of(ctx).get(named) ?? '');
    const isIt = (one: PortalSession) => one.id === named && one.cookieHash === secret?.hash;
    const found = secret && (await accounts.session(secret.accountId, isIt));
    if (!found || Date.parse(found.until) <= now().getTime()) throw new ApiError({ code: 'session-ended' });
    const { actor, clientId } = found;
    ctx.state.caller = { accountId: secret.accountId, actor, clientId, session: found };
  };
  /** A Bearer token counts first; any other Authorization may be a proxy's own. */
  const bearer = (ctx: Context): Promise<void> =>
    ctx.req.headers['x-console'] && !authorizations(ctx).some(isBearer) ? session(ctx) : token(ctx);
  return { token, bearer, session, publisher };
}

async function holderOf(ctx: Context, verify: VerifyToken, accounts: Accounts): Promise<TokenHolder> {
  const given = authorizations(ctx);
  if (given.length === 0) throw new ApiError({ code: 'token-missing' });
  const token = given.length === 1 ? bearerToken(given[0]) : null;
  if (token === null) throw invalidToken('there must be exactly one Authorization header, with Bearer and one token');
  const verified = await verify(token).catch(notNow);
  if (verified.kind === 'refused') throw invalidToken(verified.why);
  if (!(await isGood(verified.caller, accounts))) throw invalidToken('the credential of the token was revoked');
  return isPublisher(verified.caller) ? publisherOrAccount(verified.caller, accounts) : verified.caller;
}

/** Not a 401: a client would throw a good token away. */
function notNow(error: unknown): Verification {
  if (!(error instanceof KeysUnavailable)) throw error;
  throw new ApiError({ code: 'keys-unavailable' }, retryAfter(error.retryAfterSeconds * 1_000));
}

/** Node keeps only the first of several Authorization headers; the raw list shows them all. */
function authorizations(ctx: Context): string[] {
  const { rawHeaders } = ctx.req;
  return rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === 'authorization');
}

const isBearer = (authorization: string) => /^bearer( |$)/i.test(authorization);

/** By hand: a pattern of what a token may consist of took 2 % of a GET; verifying refuses what is none. */
function bearerToken(authorization = ''): string | null {
  const end = authorization.indexOf(' ');
  const token = authorization.slice(end).trim();
  return authorization.slice(0, end).toLowerCase() === 'bearer' && !token.includes(' ') ? token : null;
}

/** Our own token ends with its credential. The token of an account never registered passes here and becomes a 404 later. */
async function isGood(holder: TokenHolder, accounts: Accounts): Promise<boolean> {
  const { clientId } = holder;
  const owner = isPublisher(holder) ? holder.publisher : holder.accountId;
  if (clientId === null || (await accounts.credential(owner, clientId))) return true;
  return typeof owner === 'number' && (await accounts.webhooks(owner)) === undefined;
}

/** An issuer may give the publisher's scope to an account: that must not let a customer publish for others. */
async function publisherOrAccount(holder: Publisher, accounts: Accounts): Promise<TokenHolder> {
  if (holder.accountId === null) return holder;
  const { accountId, actor, clientId } = holder;
  return (await accounts.webhooks(accountId)) === undefined ? holder : { accountId, actor, clientId };
}

function isPublisher(holder: TokenHolder): holder is Publisher {
  return 'publisher' in holder;
}

/** @throws ApiError 403 for a session that has not the right */
export function assertMay(ctx: Pick<Context, 'state'>, right: Right): void {
  if (!may(ctx, right)) throw forbidden({ code: 'right-missing', params: { right } });
}

/** RFC 6750 3.1. */
function forbidden(problem: Problem): ApiError {
  return new ApiError(problem, { headers: { 'www-authenticate': `${CHALLENGE}, error="insufficient_scope"` } });
}

function invalidToken(why: string): ApiError {
  const headers = { 'www-authenticate': `${CHALLENGE}, error="invalid_token"` };
  return new ApiError({ code: 'token-invalid', params: { why } }, { headers });
}
