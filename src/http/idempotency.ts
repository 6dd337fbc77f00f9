/**
 * Idempotency-Key (draft-ietf-httpapi-idempotency-key-header): the first success under a key is kept for 24 h and
 * answers a repeat of the same request under that key. Refusals and failures are not kept.
 */
import { createHash } from 'node:crypto';
import type { Context } from 'koa';
import { text } from '../schema.js';
import type { Fingerprints } from '../secrets/fingerprint.js';
import type { RequestKey } from '../webhooks/envelope.js';
import { malformed } from './api-error.js';

const NAME = 'Idempotency-Key';
export const REPLAYED = 'Idempotent-Replayed';
const KEY = /^[!-~]{1,255}$/;

/** Of an operation that takes a key. */
export const KEYED = {
  headers: {
    [NAME]: text(
      'A key of your choice, 1 to 255 visible ASCII characters. For 24 hours after a success, the same request with the same key gets the same response and changes nothing.',
      { pattern: KEY.source },
    ),
  },
  sets: { [REPLAYED]: '`true` if this is the response to an earlier request with the same key.' },
  refusals: { 422: `The ${NAME} was used for another request in the last 24 hours.` },
};

/** Null: no key. @param content tells requests apart; only its fingerprint is kept @throws ApiError 400 if malformed */
export function requestKey(ctx: Context, content: unknown, fingerprints: Fingerprints): RequestKey | null {
  const key = keyOf(ctx);
  if (key === null) return null;
  const identity = JSON.stringify(content);
  return {
    // The client chooses the key, with any length and alphabet, and may treat it as a secret.
    key: createHash('sha256').update(key).digest('base64url'),
    request: fingerprints.of(identity),
    isOf: (fingerprint) => fingerprints.isOf(fingerprint, identity),
  };
}

/** Null if none is given. Several headers count as one malformed key: Node joins them with a space. */
function keyOf(ctx: Context): string | null {
  const given = ctx.headers['idempotency-key'];
  if (given === undefined) return null;
  if (KEY.test(String(given))) return String(given);
  throw malformed(NAME, '1 to 255 visible ASCII characters');
}
