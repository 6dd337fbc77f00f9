/**
 * The one-time code and the cookie of a session: `<account>.<session>.<256 random bits>`. They are text that URLs and
 * cookies (RFC 6265 4.1.1) leave as it is; only a SHA-256 of the secret part is stored.
 */
import { hashOf, type RandomBytes } from './client-credentials.js';

export interface SessionSecret {
  readonly accountId: number;
  readonly sessionId: string;
  /** SHA-256, in hex. */
  readonly hash: string;
}

export function newSessionId(randomBytes: RandomBytes): string {
  return `ps_${randomBytes(8).toString('hex')}`;
}

export function newSessionSecret(
  accountId: number,
  sessionId: string,
  randomBytes: RandomBytes,
): { text: string; hash: string } {
  const secret = randomBytes(32).toString('base64url');
  return { text: `${accountId}.${sessionId}.${secret}`, hash: hashOf(secret) };
}

/** Null if the text is no such secret. */
export function sessionSecretIn(text: string): SessionSecret | null {
  const [, account, sessionId, secret] = /^([1-9]\d{0,15})\.(ps_[0-9a-f]{16})\.([\w-]{43})$/.exec(text) ?? [];
  if (sessionId === undefined || secret === undefined) return null;
  return { accountId: Number(account), sessionId, hash: hashOf(secret) };
}
