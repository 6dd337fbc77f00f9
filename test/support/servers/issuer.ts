/** A foreign authorization server on this machine: its keys at a JWKS URL, and tokens signed with them. */
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type JWK, SignJWT } from 'jose';
import type { Certificate } from './certificates.js';
import { listen } from './receiver.js';

/** The accepted algorithms. */
export const ISSUER_ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA'] as const;
/** Its keys, by kid: the RSA key signs for every RSA algorithm. */
const KIDS = ['RS256', 'ES256', 'EdDSA'] as const;
type Kid = (typeof KIDS)[number];

export interface Issuer {
  readonly place: IssuerPlace;
  readonly jwksUrl: string;
  readonly publicKeys: readonly JWK[];
  /** How often its keys were requested. */
  readonly asked: () => number;
  /** Its responses from now on: its keys, a failure, or other bytes; or none, although it accepts requests. */
  answerWith(answer: 'keys' | 'silence' | Answer): void;
  sign(claims: object, header?: { alg?: string; kid?: string | null; [name: string]: unknown }): Promise<string>;
  close(): Promise<void>;
}

export interface Answer {
  readonly status: number;
  readonly body: string | Buffer;
  readonly encoding?: 'gzip';
}

/** New keys and an own port by default; https with a certificate for localhost. */
export async function startIssuer(
  { port = 0, pairs = newPairs() }: IssuerPlace = {},
  tls?: Certificate,
): Promise<Issuer> {
  const publicKeys = KIDS.map((kid) => ({ ...jwkOf(pairs[kid].publicKey), kid, use: 'sig' }));
  const keys: Answer = { status: 200, body: JSON.stringify({ keys: publicKeys }) };
  let answer: Answer | null = keys;
  let asked = 0;
  const respond: RequestListener = (_, response) => {
    asked += 1;
    if (!answer) return;
    const { status, body, encoding } = answer;
    const headers = { 'content-type': 'application/json', connection: 'close' };
    response.writeHead(status, { ...headers, ...(encoding && { 'content-encoding': encoding }) }).end(body);
  };
  const server = tls ? createTlsServer(tls, respond) : createServer(respond);
  const listener = await listen(server, port);
  const place = { port: listener.port, pairs };
  return {
    place,
    jwksUrl: `${tls ? 'https://localhost' : 'http://127.0.0.1'}:${place.port}/jwks.json`,
    publicKeys,
    asked: () => asked,
    answerWith: (next) => {
      if (next === 'keys') answer = keys;
      else answer = next === 'silence' ? null : next;
    },
    sign(claims, { alg = 'RS256', kid = kidOf(alg), ...more } = {}) {
      const key = pairs[kidOf(alg)].privateKey;
      const header = { alg, ...(kid !== null && { kid }), ...more };
      // jose signs no unknown crit; the tests use x.
      return new SignJWT({ ...claims }).setProtectedHeader(header).sign(key, { crit: { x: true } });
    },
    close: listener.close,
  };
}

type Pairs = Record<Kid, { publicKey: KeyObject; privateKey: KeyObject }>;

/** Its port and keys: an issuer restarted with them is the same one. */
export interface IssuerPlace {
  readonly port?: number;
  readonly pairs?: Pairs;
}

export function newPairs(): Pairs {
  return {
    RS256: generateKeyPairSync('rsa', { modulusLength: 2048 }),
    ES256: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
    EdDSA: generateKeyPairSync('ed25519'),
  };
}

/** Without alg, as many issuers publish them: the verifier chooses the algorithms. */
function jwkOf(key: KeyObject): JWK {
  return key.export({ format: 'jwk' }) as JWK;
}

function kidOf(alg: string): Kid {
  return KIDS.find((known) => known === alg) ?? 'RS256';
}
