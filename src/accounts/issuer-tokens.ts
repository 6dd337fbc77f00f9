/** Tokens of the issuer that AUTH_JWKS_URL names, verified with its keys. */
import { errors, type JWTPayload, type JWTVerifyGetKey, type JWTVerifyOptions, jwtVerify } from 'jose';
import { accountIn, keptUntilExpired, type TokenHolder, type VerifyToken } from './access-tokens.js';
import type { IssuerKeys } from './issuer-keys.js';
import { at, type Clock, strict, TokenRefused, type TokenRules, verifiedByAny } from './token-rules.js';

const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA'];

export interface IssuerOptions extends TokenRules {
  readonly accountClaim: string;
  /** Marks the token of a publisher. */
  readonly publisherScope: string;
  /** How far the issuer's clock may differ from `clock`. */
  readonly clockToleranceMs: number;
  readonly clock: Clock;
  readonly keys: Pick<IssuerKeys, 'current' | 'newer'>;
}

export function createIssuerTokens(options: IssuerOptions): VerifyToken {
  const { clockToleranceMs, clock, keys } = options;
  const clockTolerance = clockToleranceMs / 1000;
  const rules = strict(options, ALGORITHMS);
  return keptUntilExpired(clock, rules, async (token) => {
    const payload = await verifyWithNewest(token, keys, { ...at(clock, rules), clockTolerance });
    const { iat = 0, exp = 0 } = payload;
    if (iat > clock.now() / 1000 + clockTolerance) throw new TokenRefused('the token was issued in the future (iat)');
    return { caller: holderOf(payload, options), expiresAt: exp + clockTolerance };
  });
}

/**
 * A token that no cached key verifies may be signed with a newer one: under a new kid, under the same kid, or with no kid.
 * @throws KeysUnavailable, jose's errors
 */
async function verifyWithNewest(
  token: string,
  keys: IssuerOptions['keys'],
  rules: JWTVerifyOptions,
): Promise<JWTPayload> {
  // Asked only once jose has read the token: what is not one gets 401 during an outage too.
  const current: JWTVerifyGetKey = async (...of) => (await keys.current())(...of);
  try {
    return await verifyWith(token, current, rules);
  } catch (error) {
    const newer = mayBeOfNewerKey(error) ? await keys.newer() : null;
    if (newer === null) throw error;
    return verifyWith(token, newer, rules);
  }
}

function mayBeOfNewerKey(error: unknown): boolean {
  return error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWSSignatureVerificationFailed;
}

/** Several keys match a token without a kid, or with one that the set has twice (RFC 7515 appendix D). */
async function verifyWith(token: string, keys: JWTVerifyGetKey, rules: JWTVerifyOptions): Promise<JWTPayload> {
  try {
    return (await jwtVerify(token, keys, rules)).payload;
  } catch (error) {
    if (error instanceof errors.JWKSMultipleMatchingKeys) return verifiedByAny(token, error, rules);
    throw error;
  }
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
