/** The service's own tokens: JWT, HS256 with a key derived from the master key, so they survive a restart. */
import { SignJWT } from 'jose';
import { accountIn, keptUntilExpired, type VerifyToken } from './access-tokens.js';
import { TokenRefused } from './token-refused.js';
import { at, type Clock, strict, type TokenRules, verifiedByAny } from './token-rules.js';

const ALGORITHM = 'HS256';

export interface OwnTokens {
  issue(accountId: number, clientId: string): Promise<{ token: string; expiresInSeconds: number }>;
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
    async issue(accountId, clientId) {
      const issuedAt = Math.floor(clock.now() / 1000);
      const token = await new SignJWT({ client_id: clientId })
        .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT' })
        .setSubject(String(accountId))
        .setIssuer(issuer)
        .setAudience(audience)
        .setIssuedAt(issuedAt)
        .setExpirationTime(issuedAt + lifetime)
        .sign(keys[0]);
      return { token, expiresInSeconds: lifetime };
    },
    verify: keptUntilExpired(clock, rules, async (token) => {
      const payload = await verifiedByAny(token, keys, at(clock, rules));
      const accountId = accountIn(payload, 'sub');
      const { client_id: clientId, exp = 0 } = payload;
      if (typeof clientId !== 'string') throw new TokenRefused('the claim client_id must be a string');
      return { caller: { accountId, actor: clientId, clientId }, expiresAt: exp };
    }),
  };
}
