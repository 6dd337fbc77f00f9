/** Tokens of the issuer that AUTH_JWKS_URL names, verified with its keys. */
import { type JWTVerifyGetKey, jwtVerify } from 'jose';
import { accountIn, keptUntilExpired, type VerifyToken } from './access-tokens.js';
import { at, type Clock, strict, type TokenRules } from './token-rules.js';

const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA'];

export interface IssuerOptions extends TokenRules {
  readonly accountClaim: string;
  readonly clock: Clock;
  /** May throw KeysUnavailable. */
  readonly keyFor: JWTVerifyGetKey;
}

export function createIssuerTokens(options: IssuerOptions): VerifyToken {
  const { accountClaim, clock, keyFor } = options;
  const rules = strict(options, ALGORITHMS, accountClaim);
  return keptUntilExpired(clock, rules, async (token) => {
    const { payload } = await jwtVerify(token, keyFor, at(clock, rules));
    const accountId = accountIn(payload, accountClaim);
    return { caller: { accountId, actor: String(payload.sub), clientId: null }, expiresAt: payload.exp ?? 0 };
  });
}
