/**
 * Authenticates a request by the session that its header x-console names, and by the cookie of that session: puts its
 * account in ctx.state.caller. A browser adds its cookies to requests of every page of the same site; the header only a
 * script of this origin can set, since no CORS answer allows it to another.
 */
import type { Context, Next } from 'koa';
import { sessionSecretIn } from '../../accounts/client-credentials.js';
import type { Accounts } from '../../read-model/accounts.js';
import type { Right } from '../../webhooks/limits.js';
import type { PortalSession } from '../../webhooks/state.js';
import { may } from '../request-context.js';
import { forbidden, unauthorized } from '../tokens/challenges.js';
import type { SessionCookies } from './session-cookie.js';

export interface SessionParts {
  readonly accounts: Pick<Accounts, 'session'>;
  readonly cookies: SessionCookies;
  readonly now: () => Date;
}

export interface AuthenticateSession {
  isNamed(ctx: Context): boolean;
  /** @throws ApiError 401 */
  authenticate(ctx: Context, next: Next): Promise<void>;
}

export function createAuthenticateSession({ accounts, cookies, now }: SessionParts): AuthenticateSession {
  return {
    isNamed: (ctx) => ctx.get('x-console') !== '',
    async authenticate(ctx, next) {
      const named = ctx.get('x-console');
      const secret = sessionSecretIn(cookies.of(ctx).get(named) ?? '');
      const isIt = (one: PortalSession) => one.id === named && one.cookieHash === secret?.hash;
      const session = secret && (await accounts.session(secret.accountId, isIt));
      if (!session || Date.parse(session.until) <= now().getTime()) {
        throw unauthorized('the session that x-console names has ended, or there is none', '');
      }
      const { actor, clientId } = session;
      ctx.state.caller = { accountId: secret.accountId, actor, clientId, session };
      await next();
    },
  };
}

/** After authentication: 403 for a session that has not the right. */
export function mustHave(right: Right) {
  return (ctx: Context, next: Next): Promise<void> => {
    if (!may(ctx, right)) throw forbidden(`this session has not the right ${right}`, '');
    return next();
  };
}
