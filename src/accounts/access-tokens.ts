/**
 * Bearer tokens: the service's own (JWT, HS256 with a key derived from the master key, so they outlive a restart), or,
 * where a JWKS URL is set, those of that issuer INSTEAD. Whatever is wrong with a token, verify gives null: the caller's
 * answer is 401, never 500.
 */
import { createRemoteJWKSet, errors, type JWTPayload, type JWTVerifyOptions, jwtVerify, SignJWT } from 'jose';
import { LRUCache } from 'lru-cache';
import type { Logger } from '../observability/logger.js';

const OWN_ALGORITHM = 'HS256';
const ISSUER_ALGORITHMS = ['RS256', 'ES256', 'EdDSA'];
const REQUIRED_CLAIMS = ['exp', 'iat', 'sub'];
const CACHED_TOKENS = 10_000;

export interface Caller {
  readonly accountId: number;
  /** What the audit shows: the client id, or the issuer's subject. */
  readonly actor: string;
  /** Set on the service's own tokens: they end with their credential. */
  readonly clientId: string | null;
}

export type VerifyToken = (token: string) => Promise<Caller | null>;

export interface TokenRules {
  readonly issuer: string;
  readonly audience: string;
}

export interface OwnTokens {
  issue(accountId: number, clientId: string): Promise<{ token: string; expiresInSeconds: number }>;
  readonly verify: VerifyToken;
}

export interface Clock {
  /** ms since the epoch */
  now(): number;
}

export interface OwnTokenOptions extends TokenRules {
  /** The first signs; a token that any of them signed is taken. */
  readonly keys: readonly [Buffer, ...Buffer[]];
  readonly lifetimeMs: number;
  readonly clock: Clock;
}

export function createOwnTokens(options: OwnTokenOptions): OwnTokens {
  const { issuer, audience, keys, clock } = options;
  const lifetime = Math.ceil(options.lifetimeMs / 1000);
  const rules = { issuer, audience, algorithms: [OWN_ALGORITHM], requiredClaims: REQUIRED_CLAIMS };
  return {
    async issue(accountId, clientId) {
      const issuedAt = Math.floor(clock.now() / 1000);
      const token = await new SignJWT({ client_id: clientId })
        .setProtectedHeader({ alg: OWN_ALGORITHM, typ: 'JWT' })
        .setSubject(String(accountId))
        .setIssuer(issuer)
        .setAudience(audience)
        .setIssuedAt(issuedAt)
        .setExpirationTime(issuedAt + lifetime)
        .sign(keys[0]);
      return { token, expiresInSeconds: lifetime };
    },
    verify: cached(clock, async (token) => {
      const payload = await verifiedByAny(token, keys, at(clock, rules));
      const accountId = accountIn(payload, 'sub');
      if (accountId === null || typeof payload.client_id !== 'string') return null;
      return { caller: { accountId, actor: payload.client_id, clientId: payload.client_id }, payload };
    }),
  };
}

async function verifiedByAny(token: string, keys: readonly Buffer[], rules: JWTVerifyOptions): Promise<JWTPayload> {
  const [key = Buffer.alloc(0), ...others] = keys;
  try {
    return (await jwtVerify(token, key, rules)).payload;
  } catch (error) {
    if (others.length > 0 && error instanceof errors.JWSSignatureVerificationFailed) {
      return verifiedByAny(token, others, rules);
    }
    throw error;
  }
}

export interface IssuerOptions extends TokenRules {
  readonly jwksUrl: string;
  readonly accountClaim: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

export function createIssuerTokens(options: IssuerOptions): VerifyToken {
  const { issuer, audience, accountClaim, clock, logger } = options;
  const keys = createRemoteJWKSet(new URL(options.jwksUrl), { timeoutDuration: 5_000 });
  const rules = { issuer, audience, algorithms: ISSUER_ALGORITHMS, requiredClaims: [...REQUIRED_CLAIMS, accountClaim] };
  return cached(
    clock,
    async (token) => {
      const { payload } = await jwtVerify(token, keys, at(clock, rules));
      const accountId = accountIn(payload, accountClaim);
      return accountId === null ? null : { caller: { accountId, actor: String(payload.sub), clientId: null }, payload };
    },
    (error) => logger.warn({ err: error }, 'a token could not be verified: the keys of AUTH_JWKS_URL are out of reach'),
  );
}

function at(clock: Clock, rules: JWTVerifyOptions): JWTVerifyOptions {
  return { ...rules, currentDate: new Date(clock.now()), clockTolerance: 0 };
}

/** An integer or its decimal string; null for anything else. */
function accountIn(payload: JWTPayload, claim: string): number | null {
  const value = Object.hasOwn(payload, claim) ? payload[claim] : undefined;
  const accountId = typeof value === 'string' ? Number(value) : value;
  if (typeof accountId !== 'number' || !Number.isSafeInteger(accountId)) return null;
  return typeof value === 'number' || String(accountId) === value ? accountId : null;
}

type Verified = { readonly caller: Caller; readonly payload: JWTPayload } | null;

/** Verified tokens are kept until they expire; a token that failed is looked at again each time. */
function cached(
  clock: Clock,
  verify: (token: string) => Promise<Verified>,
  onFault: (error: unknown) => void = () => undefined,
): VerifyToken {
  const known = new LRUCache<string, { caller: Caller; expiresAt: number }>({ max: CACHED_TOKENS });
  return async (token) => {
    const hit = known.get(token);
    if (hit && clock.now() < hit.expiresAt) return hit.caller;
    known.delete(token);
    if (!isCanonical(token)) return null;
    try {
      const verified = await verify(token);
      if (!verified) return null;
      known.set(token, { caller: verified.caller, expiresAt: (verified.payload.exp ?? 0) * 1000 });
      return verified.caller;
    } catch (error) {
      if (!isTokenFault(error)) onFault(error);
      return null;
    }
  };
}

/** Base64url takes padding and ignores the spare bits of its last character: a token changed there would verify too. */
function isCanonical(token: string): boolean {
  return token.split('.').every((part) => Buffer.from(part, 'base64url').toString('base64url') === part);
}

/** errors of the token itself; what is left are those of the way to its keys */
function isTokenFault(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return /^ERR_(JWT_|JWS_|JOSE_ALG|JOSE_NOT|JWKS_NO_MATCHING|JWKS_MULTIPLE)/.test(code);
}
