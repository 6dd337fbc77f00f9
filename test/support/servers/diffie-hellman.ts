/** What a TLS server needs for DHE with a modulus of its choice. */
import { createDiffieHellmanGroup } from 'node:crypto';
import { generate } from 'selfsigned';
import type { Certificate } from './certificates.js';
import { der, derInteger, pemOf, SEQUENCE } from './der.js';

/** For localhost, and its own authority: DHE needs a certificate with an RSA key. */
export async function rsaCertificate(): Promise<Certificate> {
  const altNames = [{ type: 2 as const, value: 'localhost' }];
  const pem = await generate([{ name: 'commonName', value: 'localhost' }], {
    keyType: 'rsa',
    algorithm: 'sha256',
    extensions: [{ name: 'subjectAltName', altNames }],
  });
  return { cert: pem.cert, key: pem.private };
}

/** SEQUENCE { p INTEGER, g INTEGER }, as PEM. 8,192 bits: making a prime of that size would take minutes. */
export function largestParameters(): string {
  const prime = createDiffieHellmanGroup('modp18').getPrime();
  return pemOf('DH PARAMETERS', der(SEQUENCE, derInteger(prime), derInteger(Buffer.from([2]))));
}
