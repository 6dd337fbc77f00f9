/** What a receiver may choose in a TLS handshake: only what costs this process about a millisecond. */
import { createDiffieHellmanGroup } from 'node:crypto';
import { createServer, type TLSSocket, type TlsOptions } from 'node:tls';
import { afterEach, describe, expect, test } from '@jest/globals';
import { generate } from 'selfsigned';
import { AttemptFixture, failure, OK, send } from '../support/attempt-fixture.js';
import { type Certificate, certificateFor } from '../support/certificates.js';

const fixture = new AttemptFixture();
afterEach(() => fixture.close());

async function receiver(options: TlsOptions, answer: (socket: TLSSocket) => void = (socket) => socket.write(OK)) {
  const server = createServer({ ...(await certificateFor()), ...options });
  const refused = new Promise<Error>((resolve) => server.once('tlsClientError', resolve));
  server.on('secureConnection', (socket) => socket.on('error', () => {}).once('data', () => answer(socket)));
  const { port } = await fixture.listening(server);
  return { url: `https://localhost:${port}/`, refused };
}

describe('a receiver that offers', () => {
  test.each<[string, TlsOptions]>([
    ['TLS 1.2 with ECDHE', { maxVersion: 'TLSv1.2', ciphers: 'ECDHE', ecdhCurve: 'prime256v1' }],
    ['TLS 1.2 with X25519', { maxVersion: 'TLSv1.2', ecdhCurve: 'X25519' }],
    ['TLS 1.3 with X25519', { minVersion: 'TLSv1.3', ecdhCurve: 'X25519' }],
    ['TLS 1.3 with P-256', { minVersion: 'TLSv1.3', ecdhCurve: 'prime256v1' }],
    ['TLS 1.3 with P-384', { minVersion: 'TLSv1.3', ecdhCurve: 'secp384r1' }],
  ])('%s gets its delivery', async (_, options) => {
    const { url } = await receiver(options);
    expect(await send(await fixture.agent(), url)).toMatchObject({ kind: 'delivered' });
  });

  test('only DHE, with a modulus of 8,192 bits, is refused before its key exchange', async () => {
    const rsa = await rsaCertificate();
    const options = { ...rsa, maxVersion: 'TLSv1.2', ciphers: 'DHE', dhparam: dhparam('modp18') } as const;
    const { url, refused } = await receiver(options);
    expect(await send(await fixture.agent({ ca: rsa.cert }), url)).toMatchObject(failure('tls'));
    expect(await refused).toMatchObject({ code: 'ERR_SSL_NO_SHARED_CIPHER' });
  });

  test.each(['ffdhe2048', 'ffdhe8192'])('only the group %s, by TLS 1.3, is refused', async (ecdhCurve) => {
    const { url, refused } = await receiver({ minVersion: 'TLSv1.3', ecdhCurve });
    expect(await send(await fixture.agent(), url)).toMatchObject(failure('tls'));
    expect(await refused).toMatchObject({ code: expect.stringMatching(/NO_SUITABLE_(KEY_SHARE|GROUPS)/) });
  });
});

test('a receiver that renegotiates gets no second handshake', async () => {
  let renegotiated: (error: Error | null) => void;
  const result = new Promise<Error | null>((resolve) => (renegotiated = resolve));
  const { url } = await receiver({ maxVersion: 'TLSv1.2' }, (socket) => {
    socket.once('close', () => renegotiated(new Error('closed')));
    socket.renegotiate({}, (error) => renegotiated(error));
  });
  expect(await send(await fixture.agent(), url)).toMatchObject(failure('tls'));
  expect(await result).toBeInstanceOf(Error);
});

/** Its own authority: DHE needs a certificate with an RSA key. */
async function rsaCertificate(): Promise<Certificate> {
  const altNames = [{ type: 2, value: 'localhost' }] as const;
  const pem = await generate([{ name: 'commonName', value: 'localhost' }], {
    keyType: 'rsa',
    algorithm: 'sha256',
    extensions: [{ name: 'subjectAltName', altNames: [...altNames] }],
  });
  return { cert: pem.cert, key: pem.private };
}

/** DER of SEQUENCE { p INTEGER, g INTEGER }, as PEM. */
function dhparam(group: string): string {
  const prime = createDiffieHellmanGroup(group).getPrime();
  const body = Buffer.concat([integer(prime), integer(Buffer.from([2]))]);
  const der = Buffer.concat([Buffer.from([0x30, 0x82, body.length >> 8, body.length & 0xff]), body]);
  return `-----BEGIN DH PARAMETERS-----\n${der.toString('base64')}\n-----END DH PARAMETERS-----\n`;
}

function integer(value: Buffer): Buffer {
  const bytes = Buffer.concat([Buffer.from([0]), value]);
  return Buffer.concat([Buffer.from([0x02, 0x82, bytes.length >> 8, bytes.length & 0xff]), bytes]);
}
