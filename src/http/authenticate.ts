/**
 * Checks the bearer token of a request (RFC 6750): puts the caller in ctx.state.caller, or answers 401, or 503 if the
 * token can't be verified now.
 */
import type { Context, Next } from 'koa';
import { type Caller, KeysUnavailable, type Verification, type VerifyToken } from '../accounts/access-tokens.js';
import type { Accounts } from '../read-model/accounts.js';
import { ApiError } from './api-error.js';

export function authenticate(verify: VerifyToken, accounts: Accounts) {
  return async (ctx: Context, next: Next): Promise<void> => {
    const given = authorizations(ctx);
    if (given.length === 0) throw unauthorized('a Bearer token is required', '');
    const token = given.length === 1 ? bearerToken(given[0]) : null;
    if (token === null) throw invalidToken('there must be exactly one Authorization header, with Bearer and one token');
    const verified = await verify(token).catch(notNow);
    if (verified.kind === 'refused') throw invalidToken(verified.why);
    if (!(await isGood(verified.caller, accounts))) throw invalidToken('the credential of the token was revoked');
    ctx.state.caller = verified.caller;
    await next();
  };
}

/** Not a 401: a client would throw a good token away. */
function notNow(error: unknown): Verification {
  if (!(error instanceof KeysUnavailable)) throw error;
  const headers = { 'retry-after': String(error.retryAfterSeconds) };
  throw new ApiError(503, "the keys of the token's issuer are unavailable; Retry-After says when to try again", {
    headers,
  });
}

/** Node keeps only the first of several Authorization headers; the raw list shows them all. */
function authorizations(ctx: Context): string[] {
  const { rawHeaders } = ctx.req;
  return rawHeaders.filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === 'authorization');
}

function bearerToken(authorization = ''): string | null {
  return /^bearer +([\w.~+/-]+=*) *$/i.exec(authorization)?.[1] ?? null;
}

/**
 * Our own token ends with its credential. The token of an account never registered passes here and becomes a 404 later.
 */
async function isGood({ accountId, clientId }: Caller, accounts: Accounts): Promise<boolean> {
  if (clientId === null || (await accounts.credential(accountId, clientId))) return true;
  return (await accounts.webhooks(accountId)) === undefined;
}

function invalidToken(why: string): ApiError {
  const description = why.replace(NOT_QUOTABLE, '?');
  return unauthorized(
    `the Bearer token is not valid: ${why}`,
    `, error="invalid_token", error_description="${description}"`,
  );
}

/** Characters that an error_description must not contain (RFC 6750 3), but that settings named in one may. */
const NOT_QUOTABLE = /[^\x20\x21\x23-\x5b\x5d-\x7e]/g;

function unauthorized(message: string, error: string): ApiError {
  return new ApiError(401, message, { headers: { 'www-authenticate': `Bearer realm="account-webhooks"${error}` } });
}
