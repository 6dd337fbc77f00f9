/** Tokens of the issuer that AUTH_JWKS_URL names, verified with its keys. */
import { type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose';
import { accountIn, keptUntilExpired, type TokenHolder, type VerifyToken } from './access-tokens.js';
import { at, type Clock, strict, type TokenRules } from './token-rules.js';

const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA'];

export interface IssuerOptions extends TokenRules {
  readonly accountClaim: string;
  /** Marks the token of a publisher. */
  readonly publisherScope: string;
  readonly clock: Clock;
  /** May throw KeysUnavailable. */
  readonly keyFor: JWTVerifyGetKey;
}

export function createIssuerTokens(options: IssuerOptions): VerifyToken {
  const { clock, keyFor } = options;
  const rules = strict(options, ALGORITHMS);
  return keptUntilExpired(clock, rules, async (token) => {
    const { payload } = await jwtVerify(token, keyFor, at(clock, rules));
    return { caller: holderOf(payload, options), expiresAt: payload.exp ?? 0 };
  });
}

/** @throws TokenRefused */
function holderOf(payload: JWTPayload, { accountClaim, publisherScope }: IssuerOptions): TokenHolder {
  const client = { actor: String(payload.sub), clientId: null };
  if (!scopesIn(payload).includes(publisherScope)) return { accountId: accountIn(payload, accountClaim), ...client };
  return { publisher: client.actor, accountId: accountIfAny(payload, accountClaim), ...client };
}

/** `scope` is a string (RFC 9068 2.2.3); issuers also use `scp`, and lists. */
function scopesIn({ scope, scp }: JWTPayload): readonly unknown[] {
  return [scope, scp].flatMap((given) => (typeof given === 'string' ? given.split(' ') : given));
}

function accountIfAny(payload: JWTPayload, claim: string): number | null {
  try {
    return accountIn(payload, claim);
  } catch {
    return null;
  }
}
