/** What a TLS server needs for DHE with a modulus of its choice. */
import { createDiffieHellmanGroup } from 'node:crypto';
import { generate } from 'selfsigned';
import type { Certificate } from './certificates.js';

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

/** DER of SEQUENCE { p INTEGER, g INTEGER }, as PEM. 8,192 bits: making a prime of that size would take minutes. */
export function largestParameters(): string {
  const prime = createDiffieHellmanGroup('modp18').getPrime();
  const body = Buffer.concat([integer(prime), integer(Buffer.from([2]))]);
  const der = Buffer.concat([Buffer.from([0x30, 0x82, body.length >> 8, body.length & 0xff]), body]);
  return `-----BEGIN DH PARAMETERS-----\n${der.toString('base64')}\n-----END DH PARAMETERS-----\n`;
}

function integer(value: Buffer): Buffer {
  const bytes = Buffer.concat([Buffer.from([0]), value]);
  return Buffer.concat([Buffer.from([0x02, 0x82, bytes.length >> 8, bytes.length & 0xff]), bytes]);
}
