/**
 * Bearer tokens and their claims: the service's own (own-tokens.ts), or, if a JWKS URL is set, those of that issuer INSTEAD
 * (issuer-tokens.ts).
 */
import type { JWTPayload } from 'jose';
import { LRUCache } from 'lru-cache';
import type { PortalSession } from '../webhooks/state.js';
import { type Clock, type StrictRules, TokenRefused, whyRefused } from './token-rules.js';

const CACHED_TOKENS = 10_000;

export interface Caller {
  readonly accountId: number;
  /** The actor in the audit log: the client id, or the issuer's subject. */
  readonly actor: string;
  /** Set on the service's own tokens: they become invalid with their credential. */
  readonly clientId: string | null;
  /** Set if a session authenticates the caller: it has the session's rights only. */
  readonly session?: PortalSession;
}

export interface Publisher {
  /** The name that it is registered with, or the issuer's subject. */
  readonly publisher: string;
  /** What the account claim of an issuer's token names: if that account is registered, the token is the account's. */
  readonly accountId: number | null;
  readonly actor: string;
  readonly clientId: string | null;
}

export type TokenHolder = Caller | Publisher;

/** The scope of the service's own tokens of publishers. */
export const PUBLISHER_SCOPE = 'payment-events:publish';

/** `why` is for the token's sender: it names a claim or a setting, and contains nothing from the token. */
export type Verification =
  | { readonly kind: 'verified'; readonly caller: TokenHolder }
  | { readonly kind: 'refused'; readonly why: string };

/** Every invalid token gives an answer. @throws KeysUnavailable and nothing else */
export type VerifyToken = (token: string) => Promise<Verification>;

/** The token can't be verified now, through no fault of its own. */
export class KeysUnavailable extends Error {
  override readonly name = 'KeysUnavailable';
  readonly code = 'KEYS_UNAVAILABLE';
  constructor(readonly retryAfterSeconds: number) {
    super("the issuer's keys can't be fetched");
  }
}

export interface Verified {
  readonly caller: TokenHolder;
  /** seconds since the epoch, with the issuer's tolerance */
  readonly expiresAt: number;
}

/** An integer or its decimal string. @throws TokenRefused for anything else */
export function accountIn(payload: JWTPayload, claim: string): number {
  const value = Object.hasOwn(payload, claim) ? payload[claim] : undefined;
  if (value === undefined) throw new TokenRefused(`the claim ${claim} is missing`);
  const accountId = typeof value === 'string' ? Number(value) : value;
  const isInteger = typeof accountId === 'number' && Number.isSafeInteger(accountId);
  if (isInteger && (typeof value === 'number' || String(accountId) === value)) return accountId;
  throw new TokenRefused(`the claim ${claim} must be an account's number, or its decimal string`);
}

/** Caches verified tokens until they expire; a refused token is verified again each time. */
export function keptUntilExpired(
  clock: Clock,
  rules: StrictRules,
  verify: (token: string) => Promise<Verified>,
): VerifyToken {
  const known = new LRUCache<string, { verification: Verification; until: number }>({ max: CACHED_TOKENS });
  return async (token) => {
    const hit = known.get(token);
    if (hit && clock.now() < hit.until) return hit.verification;
    known.delete(token);
    try {
      if (!isCanonical(token)) throw new TokenRefused('the token is not a JWT');
      const { caller, expiresAt } = await verify(token);
      const verification = { kind: 'verified', caller } as const;
      known.set(token, { verification, until: expiresAt * 1000 });
      return verification;
    } catch (error) {
      if (error instanceof KeysUnavailable) throw error;
      return { kind: 'refused', why: whyRefused(error, rules) };
    }
  };
}

/** Base64url accepts padding and ignores the spare bits of its last character: a token altered there would verify too. */
function isCanonical(token: string): boolean {
  return token.split('.').every((part) => Buffer.from(part, 'base64url').toString('base64url') === part);
}
