/** Tokens of the issuer that AUTH_JWKS_URL names, verified with its keys. */
import { type JWTPayload, jwtVerify } from 'jose';
import { accountIn, keptUntilExpired, type TokenHolder, type VerifyToken } from './access-tokens.js';
import type { IssuerKeys } from './issuer-keys.js';
import { at, type Clock, strict, TokenRefused, type TokenRules } from './token-rules.js';

const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA'];

export interface IssuerOptions extends TokenRules {
  readonly accountClaim: string;
  /** Marks the token of a publisher. */
  readonly publisherScope: string;
  /** How far the issuer's clock may differ from `clock`. */
  readonly clockToleranceMs: number;
  readonly clock: Clock;
  readonly keys: Pick<IssuerKeys, 'keyFor'>;
}

export function createIssuerTokens(options: IssuerOptions): VerifyToken {
  const { clockToleranceMs, clock, keys } = options;
  const clockTolerance = clockToleranceMs / 1000;
  const rules = strict(options, ALGORITHMS);
  return keptUntilExpired(clock, rules, async (token) => {
    const { payload } = await jwtVerify(token, keys.keyFor, { ...at(clock, rules), clockTolerance });
    const { iat = 0, exp = 0 } = payload;
    if (iat > clock.now() / 1000 + clockTolerance) throw new TokenRefused('the token was issued in the future (iat)');
    return { caller: holderOf(payload, options), expiresAt: exp + clockTolerance };
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

/**
 * Null: there is none, or it is a name, as in `sub`. Not if it is an account in another form, like 042 or [42]: that would make
 * a publisher of an account's token. @throws TokenRefused
 */
function accountIfAny(payload: JWTPayload, claim: string): number | null {
  const value = Object.hasOwn(payload, claim) ? payload[claim] : null;
  const isName = value === null || (typeof value === 'string' && Number.isNaN(Number(value)));
  return isName ? null : accountIn(payload, claim);
}
