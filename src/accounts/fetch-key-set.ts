/** One fetch of an issuer's JWK set (RFC 7517). */
import { createPublicKey, type JsonWebKeyInput } from 'node:crypto';
import { createLocalJWKSet, type JWK } from 'jose';
import { explainedTrouble, type Server } from '../host/connection-trouble.js';

export type KeySet = ReturnType<typeof createLocalJWKSet>;

/** After decompression. A key takes about 1 KiB. */
const MOST_BYTES = 256 * 1024;
const MOST_KEYS = 100;
/** RFC 7518 3.3. */
const LEAST_BITS = 2048;

/** The message gives the cause, in a few words and without the URL. */
class NoKeySet extends Error {
  override readonly name: string = 'NoKeySet';
}

/** Reading it again costs as much again. */
export class KeySetTooLarge extends NoKeySet {
  override readonly name = 'KeySetTooLarge';
}

/** @throws NoKeySet on any failure */
export async function fetchKeySet(url: string, signal: AbortSignal): Promise<KeySet> {
  const headers = { accept: 'application/jwk-set+json, application/json' };
  // A redirect could lead to another party's keys.
  const response = await fetch(url, { headers, signal, redirect: 'manual' }).catch((error: unknown) => {
    throw new NoKeySet(unreachable(error, url));
  });
  if (response.status !== 200) {
    await response.body?.cancel().catch(() => undefined);
    throw new NoKeySet(`the response has status ${response.status}`);
  }
  const keys = keysIn(await jsonOf(response));
  // With an empty key set from a starting issuer, every valid token would be refused.
  if (keys.length === 0) throw new NoKeySet('the JWK set has no keys');
  if (keys.length > MOST_KEYS) throw new KeySetTooLarge(`the JWK set has more than ${MOST_KEYS} keys`);
  return createLocalJWKSet({ keys: keys.filter(isUsable) });
}

/** @throws NoKeySet */
export async function jsonOf({ body }: Response): Promise<unknown> {
  const text = new TextDecoder().decode(await bytesOf(body ?? []));
  try {
    return JSON.parse(text);
  } catch {
    throw new NoKeySet('the response is not JSON');
  }
}

async function bytesOf(body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body) {
      bytes += chunk.length;
      // Leaving the loop cancels the response.
      if (bytes > MOST_BYTES) throw new KeySetTooLarge(`the response has more than ${MOST_BYTES} bytes`);
      chunks.push(chunk);
    }
  } catch (error) {
    throw error instanceof NoKeySet ? error : new NoKeySet('the response was cut off');
  }
  return Buffer.concat(chunks);
}

function keysIn(body: unknown): readonly unknown[] {
  const { keys } = (body ?? {}) as { keys?: unknown };
  if (!Array.isArray(keys)) throw new NoKeySet('the response is not a JWK set');
  return keys;
}

/** Others are to be ignored (RFC 7517 5): a private key, one of fewer than 2,048 bits, and what is no key. */
function isUsable(jwk: unknown): jwk is JWK {
  try {
    const { asymmetricKeyDetails } = createPublicKey({ key: jwk as JsonWebKeyInput['key'], format: 'jwk' });
    return !Object.hasOwn(jwk as JWK, 'd') && (asymmetricKeyDetails?.modulusLength ?? LEAST_BITS) >= LEAST_BITS;
  } catch {
    return false;
  }
}

const ISSUER: Server = {
  name: 'the issuer',
  url: 'AUTH_JWKS_URL',
  trust: 'NODE_EXTRA_CA_CERTS',
  tls: { on: 'use https in AUTH_JWKS_URL', off: 'use http in AUTH_JWKS_URL, or its TLS port' },
  clientCertificate: 'the settings of the issuer: the service shows it none',
};

/** In words. fetch says "fetch failed"; its cause has the code: ECONNREFUSED, ENOTFOUND, CERT_HAS_EXPIRED. */
export function unreachable(error: unknown, url: string): string {
  const cause = ((error as Error).cause ?? {}) as { code?: string; message?: string };
  const { code = 'no connection', message = '' } = cause;
  const sign = code === 'UND_ERR_SOCKET' && url.startsWith('https:') ? 'TLS_CLOSED' : `${code} ${message}`;
  return explainedTrouble(sign, code, ISSUER)?.says ?? code;
}
