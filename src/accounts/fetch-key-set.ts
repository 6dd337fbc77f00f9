/** One fetch of an issuer's JWK set (RFC 7517). Errors give the cause in a few words, without the URL. */
import { createLocalJWKSet, type JSONWebKeySet } from 'jose';
import { explainedTrouble, type Server } from '../host/connection-trouble.js';

export type KeySet = ReturnType<typeof createLocalJWKSet>;

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
  const json: unknown = await response.json().catch((error: unknown) => {
    throw new Error(error instanceof SyntaxError ? 'the response is not JSON' : unreachable(error, url));
  });
  const { keys } = (json ?? {}) as Partial<JSONWebKeySet>;
  if (!Array.isArray(keys)) throw new Error('the response is not a JWK set');
  // With an empty key set from a starting issuer, every valid token would be refused.
  if (keys.length === 0) throw new Error('the JWK set has no keys');
  return createLocalJWKSet({ keys });
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
