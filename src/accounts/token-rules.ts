/** The requirements on a token: always pass all of them to jose, which checks only what it is told. */
import type { JWTVerifyOptions } from 'jose';

const REQUIRED_CLAIMS = ['exp', 'iat', 'sub'];

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
