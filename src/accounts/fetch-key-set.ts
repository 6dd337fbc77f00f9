/** One fetch of an issuer's JWK set (RFC 7517). Errors give the cause in a few words, without the URL. */
import { createLocalJWKSet, importJWK, type JWK } from 'jose';
import { explainedTrouble, type Server } from '../host/connection-trouble.js';

export type KeySet = ReturnType<typeof createLocalJWKSet>;

/** After decompression; a key takes about 1 KiB. Unlimited, a gzip response raised resident memory to 1.16 GB. */
const MAX_BYTES = 256 * 1024;
const MAX_KEYS = 100;
/** RFC 7518 3.3. */
const MIN_RSA_BITS = 2048;

export async function fetchKeySet(url: string, signal: AbortSignal): Promise<KeySet> {
  const headers = { accept: 'application/jwk-set+json, application/json' };
  // A redirect could lead to another party's keys.
  const response = await fetch(url, { headers, signal, redirect: 'manual' }).catch((error: unknown) => {
    throw new Error(unreachable(error, url));
  });
  if (response.status !== 200) {
    await response.body?.cancel().catch(() => undefined);
    throw new Error(`the response has status ${response.status}`);
  }
  const body = await readBody(response.body ?? [], (error) => unreachable(error, url));
  return createLocalJWKSet({ keys: await usableKeys(parseKeys(body)) });
}

/** @param explain describes an error of the connection */
async function readBody(chunks: AsyncIterable<Uint8Array> | [], explain: (error: unknown) => string): Promise<string> {
  const read: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of chunks) {
      bytes += chunk.length;
      // Leaving the loop cancels the response.
      if (bytes > MAX_BYTES) break;
      read.push(chunk);
    }
  } catch (error) {
    throw new Error(explain(error));
  }
  if (bytes > MAX_BYTES) throw new Error(`the response has more than ${MAX_BYTES} bytes`);
  return Buffer.concat(read).toString('utf8');
}

function parseKeys(body: string): readonly unknown[] {
  let json: { readonly keys?: unknown } | null;
  try {
    json = JSON.parse(body);
  } catch {
    throw new Error('the response is not JSON');
  }
  const keys = json?.keys;
  if (!Array.isArray(keys)) throw new Error('the response is not a JWK set');
  if (keys.length > MAX_KEYS) throw new Error(`the JWK set has more than ${MAX_KEYS} keys`);
  return keys;
}

/** With an empty key set from a starting issuer, every valid token would be rejected. */
async function usableKeys(keys: readonly unknown[]): Promise<JWK[]> {
  const isUsable = await Promise.all(keys.map(isPublicKey));
  const usable = keys.filter((_, index) => isUsable[index]) as JWK[];
  if (usable.length === 0) throw new Error('the JWK set has no usable keys');
  return usable;
}

const ALGORITHMS: Readonly<Record<string, string>> = { RSA: 'RS256', EC: 'ES256', OKP: 'EdDSA' };

/** Others are to be ignored (RFC 7517 5). Checked by importing the key: a malformed one would match tokens, and fail them. */
async function isPublicKey(jwk: unknown): Promise<boolean> {
  try {
    const { alg, kty = '' } = jwk as JWK;
    const key = await importJWK(jwk as JWK, alg ?? ALGORITHMS[kty]);
    if (key instanceof Uint8Array || key.type !== 'public') return false;
    const { modulusLength: bits = MIN_RSA_BITS } = key.algorithm as { readonly modulusLength?: number };
    return bits >= MIN_RSA_BITS;
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
function unreachable(error: unknown, url: string): string {
  const cause = ((error as Error).cause ?? {}) as { code?: string; message?: string };
  const { code = 'no connection', message = '' } = cause;
  const sign = code === 'UND_ERR_SOCKET' && url.startsWith('https:') ? 'TLS_CLOSED' : `${code} ${message}`;
  return explainedTrouble(sign, code, ISSUER)?.says ?? code;
}
