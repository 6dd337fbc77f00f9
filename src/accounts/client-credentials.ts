/**
 * Client ids and secrets (RFC 6749 2.3.1): letters, digits and - _ . ~ only, which neither form nor Basic encoding changes.
 * The client id names its account; only a SHA-256 of the secret, 256 random bits, is ever stored.
 */
import { createHash, timingSafeEqual } from 'node:crypto';

export type RandomBytes = (size: number) => Buffer;

export interface NewCredential {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly secretHash: string;
}

export function newCredential(accountId: number, randomBytes: RandomBytes): NewCredential {
  const clientId = `acct_${accountId}_${randomBytes(8).toString('hex')}`;
  const clientSecret = randomBytes(32).toString('base64url');
  return { clientId, clientSecret, secretHash: hashOf(clientSecret) };
}

/** The account that a client id names; null if the text is no client id. */
export function accountOf(clientId: string): number | null {
  const digits = /^acct_([1-9]\d{0,15})_[0-9a-f]{16}$/.exec(clientId)?.[1];
  const accountId = Number(digits);
  return Number.isSafeInteger(accountId) ? accountId : null;
}

export function secretMatches(clientSecret: string, secretHash: string): boolean {
  return timingSafeEqual(Buffer.from(hashOf(clientSecret), 'hex'), Buffer.from(secretHash, 'hex'));
}

/** whsec_ and the base64 of 32 random bytes (Standard Webhooks accepts 24 to 64). */
export function newSigningSecret(randomBytes: RandomBytes): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

function hashOf(clientSecret: string): string {
  return createHash('sha256').update(clientSecret).digest('hex');
}
