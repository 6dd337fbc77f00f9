/** Why a token was refused, in words for its sender (the error_description of RFC 6750 3). */
import { errors } from 'jose';
import type { StrictRules } from './token-rules.js';

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
  ERR_JWKS_NO_MATCHING_KEY: 'the issuer has no key with this kid and algorithm',
};

/** @returns a phrase that contains nothing from the token */
export function whyRefused(error: unknown, rules: StrictRules): string {
  if (error instanceof TokenRefused) return error.message;
  if (error instanceof errors.JWTClaimValidationFailed) return aboutClaim(error, rules);
  if (error instanceof errors.JOSEAlgNotAllowed)
    return `the algorithm (alg) is not one of ${rules.algorithms.join(', ')}`;
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
