/** One fetch of an issuer's JWK set (RFC 7517). */
import { createLocalJWKSet, type JSONWebKeySet } from 'jose';

export type KeySet = ReturnType<typeof createLocalJWKSet>;

/** The message gives the cause, in a few words and without the URL. */
class NoKeySet extends Error {
  override readonly name = 'NoKeySet';
}

/** @throws NoKeySet on any failure */
export async function fetchKeySet(url: string, signal: AbortSignal): Promise<KeySet> {
  const headers = { accept: 'application/jwk-set+json, application/json' };
  // A redirect could lead to another party's keys.
  const response = await fetch(url, { headers, signal, redirect: 'manual' }).catch((error: unknown) => {
    throw new NoKeySet(unreachable(error));
  });
  if (response.status !== 200) {
    await response.body?.cancel().catch(() => undefined);
    throw new NoKeySet(`the response has status ${response.status}`);
  }
  const body: unknown = await response.json().catch((error: Error) => {
    throw new NoKeySet(error.name === 'SyntaxError' ? 'the response is not JSON' : 'the response was cut off');
  });
  const keySet = keySetOf(body);
  // With an empty key set from a starting issuer, every valid token would be refused.
  if (keySet.jwks().keys.length === 0) throw new NoKeySet('the JWK set has no keys');
  return keySet;
}

function keySetOf(body: unknown): KeySet {
  try {
    return createLocalJWKSet(body as JSONWebKeySet);
  } catch {
    throw new NoKeySet('the response is not a JWK set');
  }
}

/** fetch says "fetch failed"; its cause has the code: ECONNREFUSED, ENOTFOUND, CERT_HAS_EXPIRED. */
function unreachable(error: unknown): string {
  const { cause } = error as { cause?: { code?: unknown } };
  return typeof cause?.code === 'string' ? cause.code : 'no connection';
}
