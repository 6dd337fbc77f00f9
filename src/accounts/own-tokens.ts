/** The service's own tokens: JWT, HS256 with a key derived from the master key, so they survive a restart. */
import { type JWTPayload, SignJWT } from 'jose';
import type { ClientOwner } from '../webhooks/events.js';
import { accountIn, keptUntilExpired, PUBLISHER_SCOPE, type TokenHolder, type VerifyToken } from './access-tokens.js';
import { at, type Clock, strict, TokenRefused, type TokenRules, verifiedByAny } from './token-rules.js';

const ALGORITHM = 'HS256';
/** Before a publisher's name in `sub`: no account id begins so. */
const PUBLISHER = 'publisher:';

export interface OwnTokens {
  issue(owner: ClientOwner, clientId: string): Promise<{ token: string; expiresInSeconds: number }>;
  readonly verify: VerifyToken;
}

export interface OwnTokenOptions extends TokenRules {
  /** The first one signs; tokens signed with any of them are accepted. */
  readonly keys: readonly [Buffer, ...Buffer[]];
  readonly lifetimeMs: number;
  readonly clock: Clock;
}

export function createOwnTokens(options: OwnTokenOptions): OwnTokens {
  const { issuer, audience, keys, clock } = options;
  const lifetime = Math.ceil(options.lifetimeMs / 1000);
  const rules = strict(options, [ALGORITHM]);
  return {
    async issue(owner, clientId) {
      const issuedAt = Math.floor(clock.now() / 1000);
      const isAccount = typeof owner === 'number';
      const claims = { client_id: clientId, ...(!isAccount && { scope: PUBLISHER_SCOPE }) };
      const token = await new SignJWT(claims)
        .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT' })
        .setSubject(isAccount ? String(owner) : `${PUBLISHER}${owner}`)
        .setIssuer(issuer)
        .setAudience(audience)
        .setIssuedAt(issuedAt)
        .setExpirationTime(issuedAt + lifetime)
        .sign(keys[0]);
      return { token, expiresInSeconds: lifetime };
    },
    verify: keptUntilExpired(clock, rules, async (token) => {
      const payload = await verifiedByAny(token, keys, at(clock, rules));
      return { caller: holderOf(payload), expiresAt: payload.exp ?? 0 };
    }),
  };
}

/** @throws TokenRefused */
function holderOf(payload: JWTPayload): TokenHolder {
  const { sub, client_id: clientId } = payload;
  if (typeof clientId !== 'string') throw new TokenRefused('the claim client_id must be a string');
  const client = { actor: clientId, clientId };
  if (typeof sub === 'string' && sub.startsWith(PUBLISHER)) {
    return { publisher: sub.slice(PUBLISHER.length), accountId: null, ...client };
  }
  return { accountId: accountIn(payload, 'sub'), ...client };
}
