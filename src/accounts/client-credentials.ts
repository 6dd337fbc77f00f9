/**
 * Client ids and secrets (RFC 6749 2.3.1): letters, digits and - _ . ~ only. They need no encoding, but clients may encode them.
 * The client id names its owner, an account or a publisher. The one-time code and the cookie of a session are
 * `<account>.<session>.<secret>`, which URLs and cookies (RFC 6265 4.1.1) leave as it is. Only a SHA-256 of a secret, 256
 * random bits, is ever stored.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { ClientOwner } from '../webhooks/events.js';

export type RandomBytes = (size: number) => Buffer;

export interface NewCredential {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly secretHash: string;
}

export const PUBLISHER_NAME = /^[A-Za-z0-9._-]{1,64}$/;

export function newCredential(owner: ClientOwner, randomBytes: RandomBytes): NewCredential {
  const kind = typeof owner === 'number' ? 'acct' : 'pub';
  const clientId = `${kind}_${owner}_${randomBytes(8).toString('hex')}`;
  const clientSecret = randomBytes(32).toString('base64url');
  return { clientId, clientSecret, secretHash: hashOf(clientSecret) };
}

/** The account or publisher that a client id names; null if the text is no client id. */
export function ownerOf(clientId: string): ClientOwner | null {
  const [, digits, name] = /^(?:acct_([1-9]\d{0,15})|pub_([A-Za-z0-9._-]{1,64}))_[0-9a-f]{16}$/.exec(clientId) ?? [];
  if (name !== undefined) return name;
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

/** SHA-256, in hex. */
function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

export function newSessionId(randomBytes: RandomBytes): string {
  return `ps_${randomBytes(8).toString('hex')}`;
}

export function newSessionSecret(accountId: number, sessionId: string, randomBytes: RandomBytes) {
  const secret = randomBytes(32).toString('base64url');
  return { text: `${accountId}.${sessionId}.${secret}`, hash: hashOf(secret) };
}

/** Null if the text is no such secret. */
export function sessionSecretIn(text: string) {
  const [, account, sessionId, secret] = /^([1-9]\d{0,15})\.(ps_[0-9a-f]{16})\.([\w-]{43})$/.exec(text) ?? [];
  if (sessionId === undefined || secret === undefined) return null;
  return { accountId: Number(account), sessionId, hash: hashOf(secret) };
}
