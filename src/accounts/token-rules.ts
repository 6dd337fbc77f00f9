/** The requirements on a token: always pass all of them to jose, which checks only what it is told. */
import { type CryptoKey, errors, type JWTPayload, type JWTVerifyOptions, jwtVerify } from 'jose';

const REQUIRED_CLAIMS = ['exp', 'iat', 'sub'];
const MOST_TRIED = 10;

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
  return { issuer, audience, algorithms, requiredClaims: REQUIRED_CLAIMS };
}

export function at(clock: Clock, rules: StrictRules): JWTVerifyOptions {
  return { ...rules, currentDate: new Date(clock.now()), clockTolerance: 0 };
}

/** Tries the first ten keys. @throws jose's error: about the signature if no key verifies it */
export async function verifiedByAny(
  token: string,
  keys: Iterable<Uint8Array> | AsyncIterable<CryptoKey>,
  rules: JWTVerifyOptions,
): Promise<JWTPayload> {
  let tried = 0;
  for await (const key of keys) {
    if (++tried > MOST_TRIED) break;
    try {
      return (await jwtVerify(token, key, rules)).payload;
    } catch (error) {
      if (!(error instanceof errors.JWSSignatureVerificationFailed)) throw error;
    }
  }
  throw new errors.JWSSignatureVerificationFailed();
}
