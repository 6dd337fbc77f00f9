/**
 * POST /console/session/preview: shows whose session a one-time code is for, and redeems nothing. A link from anywhere may carry
 * the code of someone else's account, so the page asks its user before it signs the browser in.
 */
import type { Context } from 'koa';
import { sessionSecretIn } from '../../accounts/client-credentials.js';
import { flag, list, object, text, textOrNull, time, whole } from '../../schema.js';
import type { ApiParts } from '../api-parts.js';
import { operation, route } from '../operation.js';
import { CAN } from './portal-sessions.js';
import { CODE, codeRefused, findByCode, readCode } from './session-code.js';
import { createSessionCookies } from './session-cookie.js';

const PREVIEW_SESSION = operation({
  id: 'previewSession',
  method: 'post',
  path: '/console/session/preview',
  description:
    'Shows whose session a one-time code is for. The code stays valid, and no cookie is set. The console calls it before it signs a browser in.',
  security: 'none',
  body: { type: 'json', schema: CODE },
  returns: object('SessionPreview', 'The session that a code is for.', {
    account: whole('The account.'),
    user: textOrNull('The user. Null if none was named.'),
    can: CAN,
    expiresAt: time('When the session ends.'),
    hasOtherAccount: flag('Whether the request has the cookie of a session of another account.'),
    trustedOrigins: list(
      'Origins whose links the console follows without asking: CONSOLE_FRAME_ANCESTORS.',
      text('An origin.'),
    ),
  }),
  refusals: {
    400: 'The code is not valid, was used, or has expired.',
    503: 'The event store is unavailable. Retry-After says when to try again.',
  },
});

export function previewSession({ accounts, console: { frameAncestors }, publicUrl, now }: ApiParts) {
  const cookies = createSessionCookies(publicUrl);
  return route(PREVIEW_SESSION, async (ctx) => {
    const { code } = await readCode(ctx);
    const { accountId, session } = await findByCode(code, accounts);
    const { user, can, until, cookieHash, codeUntil } = session;
    if (cookieHash !== null || Date.parse(codeUntil) <= now().getTime()) throw codeRefused();
    const about = { account: accountId, user, can, expiresAt: until };
    ctx.body = { ...about, hasOtherAccount: hasOther(ctx, accountId), trustedOrigins: frameAncestors ?? [] };
  });

  /** By what the cookies contain, without a lookup: the cookie of a session that was ended elsewhere counts too. */
  function hasOther(ctx: Context, accountId: number): boolean {
    const secrets = [...cookies.of(ctx).values()].flatMap((value) => sessionSecretIn(value) ?? []);
    return secrets.some((one) => one.accountId !== accountId);
  }
}
