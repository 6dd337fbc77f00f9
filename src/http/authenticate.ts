/** Bearer tokens on requests (RFC 6750): the caller in ctx.state.caller, or 401. */
import type { Context, Next } from 'koa';
import type { Caller, VerifyToken } from '../accounts/access-tokens.js';
import type { Accounts } from '../read-model/accounts.js';
import { ApiError } from './api-error.js';

export function authenticate(verify: VerifyToken, accounts: Accounts) {
  return async (ctx: Context, next: Next): Promise<void> => {
    const given = authorizations(ctx);
    if (given.length === 0) throw unauthorized('a Bearer token is needed', '');
    const token = given.length === 1 ? bearerToken(given[0]) : null;
    const caller = token === null ? null : await verify(token);
    if (!caller || !(await isGood(caller, accounts))) {
      throw unauthorized('the Bearer token is not valid', ', error="invalid_token"');
    }
    ctx.state.caller = caller;
    await next();
  };
}

/** Node keeps only the first of several Authorization headers: the raw list shows them all. */
function authorizations(ctx: Context): string[] {
  const { rawHeaders } = ctx.req;
  return rawHeaders.filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === 'authorization');
}

function bearerToken(authorization = ''): string | null {
  return /^bearer +([\w.~+/-]+=*) *$/i.exec(authorization)?.[1] ?? null;
}

/** An own token ends with its credential. Of an account never registered it passes: that is a 404, later. */
async function isGood({ accountId, clientId }: Caller, accounts: Accounts): Promise<boolean> {
  if (clientId === null || (await accounts.credential(accountId, clientId))) return true;
  return (await accounts.webhooks(accountId)) === undefined;
}

function unauthorized(message: string, error: string): ApiError {
  return new ApiError(401, message, { headers: { 'www-authenticate': `Bearer realm="account-webhooks"${error}` } });
}
