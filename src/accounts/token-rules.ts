/**
 * The requirements on a token: always pass all of them to jose, which checks only what it is told. And why a token was refused,
 * in words for its sender.
 */
import { type CryptoKey, errors, type JWTPayload, type JWTVerifyOptions, jwtVerify } from 'jose';

/** Anyone can forge a token that matches many keys. */
const MAX_KEYS_TRIED = 10;

export interface TokenRules {
  readonly issuer: string;
  readonly audience: string;
}

export interface Clock {
  /** ms since the epoch */
  now(): number;
}

export interface StrictRules extends TokenRules {
  readonly algorithms: string[];
  readonly requiredClaims: string[];
}

export function strict({ issuer, audience }: TokenRules, algorithms: string[]): StrictRules {
  return { issuer, audience, algorithms, requiredClaims: ['exp', 'iat', 'sub'] };
}

export function at(clock: Clock, rules: StrictRules): JWTVerifyOptions {
  return { ...rules, currentDate: new Date(clock.now()), clockTolerance: 0 };
}

/** Tries the first ten keys. @throws jose's error: about the signature if none of them verifies it */
export async function verifiedByAny(
  token: string,
  keys: Iterable<Uint8Array> | AsyncIterable<CryptoKey>,
  rules: JWTVerifyOptions,
): Promise<JWTPayload> {
  let tried = 0;
  for await (const key of keys) {
    tried += 1;
    if (tried > MAX_KEYS_TRIED) break;
    try {
      return (await jwtVerify(token, key, rules)).payload;
    } catch (error) {
      if (!(error instanceof errors.JWSSignatureVerificationFailed)) throw error;
    }
  }
  throw new errors.JWSSignatureVerificationFailed();
}

/** A violated rule that jose does not check. The message is shown to the sender. */
export class TokenRefused extends Error {
  override readonly name = 'TokenRefused';
}

/** By jose's code. ERR_JWKS codes occur only with an issuer. */
const SAID: Readonly<Record<string, string>> = {
  ERR_JWT_EXPIRED: 'the token has expired (exp)',
  ERR_JWT_INVALID: 'the token is not a JWT',
  ERR_JWS_INVALID: 'the token is not a JWT',
  ERR_JWS_SIGNATURE_VERIFICATION_FAILED: 'the signature is not valid',
  ERR_JWKS_NO_MATCHING_KEY: "the issuer has no key that matches the token's header (alg, kid)",
};

/** @returns a phrase that contains nothing from the token */
export function whyRefused(error: unknown, rules: StrictRules): string {
  if (error instanceof TokenRefused) return error.message;
  if (error instanceof errors.JWTClaimValidationFailed) return aboutClaim(error, rules);
  const isOther = error instanceof errors.JOSEAlgNotAllowed;
  if (isOther) return `the algorithm (alg) is not one of ${rules.algorithms.join(', ')}`;
  const code = error instanceof errors.JOSEError ? error.code : '';
  // The rest: an unknown extension (crit), or an invalid key of the issuer.
  return SAID[code] ?? 'the token could not be verified';
}

function aboutClaim({ claim, reason }: errors.JWTClaimValidationFailed, { issuer, audience }: StrictRules): string {
  if (reason === 'missing') return `the claim ${claim} is missing`;
  if (reason === 'invalid') return `the claim ${claim} must be a number`;
  if (claim === 'aud') return `the audience (aud) is not ${audience}`;
  if (claim === 'iss') return `the issuer (iss) is not ${issuer}`;
  return 'the token is not valid yet (nbf)';
}
