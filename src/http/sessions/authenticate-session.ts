/**
 * Authenticates a request by a session's cookie: puts its account in ctx.state.caller. A browser adds the cookie to
 * requests that a page of the same site makes, so one that changes something must also have a header that only a
 * script of this origin can set: no CORS answer allows it to another.
 */
import type { Context, Next } from 'koa';
import { sessionSecretIn } from '../../accounts/session-secrets.js';
import type { Accounts, PortalSession } from '../../read-model/accounts.js';
import type { Right } from '../../webhooks/limits.js';
import { ApiError } from '../api-error.js';
import { may } from '../request-context.js';
import { forbidden, unauthorized } from '../tokens/challenges.js';
import type { SessionCookie } from './session-cookie.js';

const CHANGE_NOTHING = ['GET', 'HEAD'];

export interface SessionParts {
  readonly accounts: Pick<Accounts, 'session'>;
  readonly cookie: SessionCookie;
  readonly now: () => Date;
}

export interface AuthenticateSession {
  isGiven(ctx: Context): boolean;
  /** @throws ApiError 401, 403 */
  authenticate(ctx: Context, next: Next): Promise<void>;
}

export function createAuthenticateSession({ accounts, cookie, now }: SessionParts): AuthenticateSession {
  return {
    isGiven: (ctx) => cookie.of(ctx) !== undefined,
    async authenticate(ctx, next) {
      const secret = sessionSecretIn(cookie.of(ctx) ?? '');
      const session = secret && (await accounts.session(secret.accountId, isIt(secret.sessionId, secret.hash)));
      if (!session || Date.parse(session.until) <= now().getTime()) {
        throw unauthorized('the session has ended, or there is none', '');
      }
      if (!CHANGE_NOTHING.includes(ctx.method) && ctx.get('x-console') !== '1') {
        throw new ApiError(403, 'a request of a session that changes something needs the header x-console: 1');
      }
      const { actor, clientId } = session;
      ctx.state.caller = { accountId: secret.accountId, actor, clientId, session };
      await next();
    },
  };
}

function isIt(sessionId: string, hash: string): (session: PortalSession) => boolean {
  return ({ id, cookieHash }) => id === sessionId && cookieHash === hash;
}

/** After authentication: 403 for a session that has not the right. */
export function mustHave(right: Right) {
  return (ctx: Context, next: Next): Promise<void> => {
    if (!may(ctx, right)) throw forbidden(`this session has not the right ${right}`, '');
    return next();
  };
}
