/**
 * Checks the bearer token of a request (RFC 6750): puts its account in ctx.state.caller, or its publisher in
 * ctx.state.publisher. Otherwise the answer is 401, 403 for a token of the other kind, or 503 if the token can't be
 * verified now.
 */
import type { Context, Next } from 'koa';
import {
  KeysUnavailable,
  type Publisher,
  type TokenHolder,
  type Verification,
  type VerifyToken,
} from '../../accounts/access-tokens.js';
import type { Accounts } from '../../read-model/accounts.js';
import { ApiError } from '../api-error.js';
import type { AuthenticateSession } from '../sessions/authenticate-session.js';
import { forbidden, invalidToken, unauthorized } from './challenges.js';

const PUBLISHERS_ONLY = 'this token can not publish payment events: it takes the token of a publisher';
const ACCOUNTS_ONLY = 'the token of a publisher can only publish payment events';

/** For the operations of accounts. Without a Bearer token, as beside what a proxy adds for itself, a session authenticates. */
export function authenticateAccount(verify: VerifyToken, accounts: Accounts, session: AuthenticateSession) {
  const byToken = authenticate(verify, accounts, (ctx, holder) => {
    if (isPublisher(holder)) throw forbidden(ACCOUNTS_ONLY, '');
    ctx.state.caller = holder;
  });
  return (ctx: Context, next: Next): Promise<void> =>
    session.isNamed(ctx) && !authorizations(ctx).some(isBearer) ? session.authenticate(ctx, next) : byToken(ctx, next);
}

/** @param scope the scope of a publisher's tokens */
export function authenticatePublisher(verify: VerifyToken, accounts: Accounts, scope: string) {
  return authenticate(verify, accounts, (ctx, holder) => {
    if (!isPublisher(holder)) throw forbidden(PUBLISHERS_ONLY, `, scope="${scope}"`);
    ctx.state.publisher = holder;
  });
}

type Accept = (ctx: Context, holder: TokenHolder) => void;

function authenticate(verify: VerifyToken, accounts: Accounts, accept: Accept) {
  return async (ctx: Context, next: Next): Promise<void> => {
    const given = authorizations(ctx);
    if (given.length === 0) throw unauthorized('a Bearer token is required', '');
    const token = given.length === 1 ? bearerToken(given[0]) : null;
    if (token === null) throw invalidToken('there must be exactly one Authorization header, with Bearer and one token');
    const verified = await verify(token).catch(notNow);
    if (verified.kind === 'refused') throw invalidToken(verified.why);
    if (!(await isGood(verified.caller, accounts))) throw invalidToken('the credential of the token was revoked');
    accept(ctx, await holderOf(verified.caller, accounts));
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

const isBearer = (authorization: string) => /^bearer( |$)/i.test(authorization);

function bearerToken(authorization = ''): string | null {
  return /^bearer +([\w.~+/-]+=*) *$/i.exec(authorization)?.[1] ?? null;
}

/**
 * Our own token ends with its credential. The token of an account never registered passes here and becomes a 404 later.
 */
async function isGood(holder: TokenHolder, accounts: Accounts): Promise<boolean> {
  const { clientId } = holder;
  const owner = isPublisher(holder) ? holder.publisher : holder.accountId;
  if (clientId === null || (await accounts.credential(owner, clientId))) return true;
  return typeof owner === 'number' && (await accounts.webhooks(owner)) === undefined;
}

/** An issuer may give the publisher's scope to an account: that must not let a customer publish for others. */
async function holderOf(holder: TokenHolder, accounts: Accounts): Promise<TokenHolder> {
  if (!isPublisher(holder) || holder.accountId === null) return holder;
  const { accountId, actor, clientId } = holder;
  return (await accounts.webhooks(accountId)) === undefined ? holder : { accountId, actor, clientId };
}

function isPublisher(holder: TokenHolder): holder is Publisher {
  return 'publisher' in holder;
}
