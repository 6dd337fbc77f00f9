/** Somebody else's authorization server on this machine: its keys at a JWKS URL, and tokens signed with them. */
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type JWK, SignJWT } from 'jose';

export const ISSUER_ALGORITHMS = ['RS256', 'ES256', 'EdDSA'] as const;
export type IssuerAlgorithm = (typeof ISSUER_ALGORITHMS)[number];

export interface Issuer {
  readonly jwksUrl: string;
  readonly publicKeys: readonly JWK[];
  /** How often its keys were asked for. */
  readonly asked: () => number;
  /** The answer it gives from now on: its keys, a failure, or other bytes. */
  answerWith(answer: 'keys' | { readonly status: number; readonly body: string }): void;
  sign(claims: object, header?: { alg?: string; kid?: string | null; [name: string]: unknown }): Promise<string>;
  close(): Promise<void>;
}

/** One key for each algorithm, `kid` being its name. */
export async function startIssuer(): Promise<Issuer> {
  const pairs = newPairs();
  const publicKeys = ISSUER_ALGORITHMS.map((kid) => ({ ...jwkOf(pairs[kid].publicKey), kid, use: 'sig' }));
  const keys = { status: 200, body: JSON.stringify({ keys: publicKeys }) };
  let answer = keys;
  let asked = 0;
  const server = createServer((_, response) => {
    asked += 1;
    response.writeHead(answer.status, { 'content-type': 'application/json', connection: 'close' }).end(answer.body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    jwksUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks.json`,
    publicKeys,
    asked: () => asked,
    answerWith: (next) => {
      answer = next === 'keys' ? keys : next;
    },
    sign(claims, { alg = 'RS256', kid = alg, ...more } = {}) {
      const key = pairs[keyOf(alg)].privateKey;
      const header = { alg, ...(kid !== null && { kid }), ...more };
      // jose signs no crit that it was not told of; x is what the tests use.
      return new SignJWT({ ...claims }).setProtectedHeader(header).sign(key, { crit: { x: true } });
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function newPairs(): Record<IssuerAlgorithm, { publicKey: KeyObject; privateKey: KeyObject }> {
  return {
    RS256: generateKeyPairSync('rsa', { modulusLength: 2048 }),
    ES256: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
    EdDSA: generateKeyPairSync('ed25519'),
  };
}

/** Without alg, as many issuers publish them: the algorithms are for who verifies to choose. */
function jwkOf(key: KeyObject): JWK {
  return key.export({ format: 'jwk' }) as JWK;
}

/** The RSA key signs whatever RSA can. */
function keyOf(alg: string): IssuerAlgorithm {
  return ISSUER_ALGORITHMS.find((known) => known === alg) ?? 'RS256';
}
