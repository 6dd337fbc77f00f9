/** What a receiver may choose in a TLS handshake: only what costs this process about a millisecond. */
import { createServer, type TLSSocket, type TlsOptions } from 'node:tls';
import { AttemptFixture, failure, OK, send } from '../support/scenes/attempt-fixture.js';
import { certificateFor } from '../support/servers/certificates.js';
import { largestParameters, rsaCertificate } from '../support/servers/diffie-hellman.js';

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
    const options = { ...rsa, maxVersion: 'TLSv1.2', ciphers: 'DHE', dhparam: largestParameters() } as const;
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
