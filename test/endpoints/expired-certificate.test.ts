/** A chain in which a certificate has expired: the attempt names it, whichever it is. */
import { X509Certificate } from 'node:crypto';
import { createServer } from 'node:tls';
import { findExpired } from '../../src/endpoints/expired-certificate.js';
import { AttemptFixture, send } from '../support/scenes/attempt-fixture.js';
import { makeAuthority, makeCertificate } from '../support/servers/certificate-maker.js';
import type { Certificate } from '../support/servers/certificates.js';

const DAY_MS = 86_400_000;
/** Certificates store whole seconds. */
const YESTERDAY = new Date(Math.floor((Date.now() - DAY_MS) / 1_000) * 1_000);
const EXPIRED = { notAfterDate: YESTERDAY };
const expiredAt = YESTERDAY.toISOString();

const fixture = new AttemptFixture();
afterEach(() => fixture.close());

/** @param sent after the receiver's own certificate */
async function attempt(trusted: Certificate, own: Certificate, ...sent: readonly Certificate[]) {
  const cert = [own, ...sent].map(({ cert }) => cert).join('');
  const { port } = await fixture.listening(createServer({ cert, key: own.key }).on('tlsClientError', () => {}));
  return send(await fixture.agent({ ca: trusted.cert }), `https://localhost:${port}/`);
}
const naming = (name: string | null, at: string | null = expiredAt) => ({
  ...{ error: 'tls', reason: 'certificate-expired' },
  expiredCertificate: { name, expiredAt: at },
});

test('the certificate of the receiver', async () => {
  const root = await makeAuthority('Root of one');
  const own = await makeCertificate(root, ['localhost'], EXPIRED);
  expect(await attempt(root, own)).toMatchObject(naming('localhost'));
});

test('the certificate of an intermediate', async () => {
  const root = await makeAuthority('Root of two');
  const intermediate = await makeAuthority('Issuing authority', root, EXPIRED);
  const own = await makeCertificate(intermediate, ['localhost']);
  expect(await attempt(root, own, intermediate)).toMatchObject(naming('Issuing authority'));
});

test('the certificate of the root, sent or not', async () => {
  const root = await makeAuthority('Old root', undefined, EXPIRED);
  const intermediate = await makeAuthority('Its intermediate', root);
  const own = await makeCertificate(intermediate, ['localhost']);
  expect(await attempt(root, own, intermediate, root)).toMatchObject(naming('Old root'));
  expect(await attempt(root, own, intermediate)).toMatchObject(naming('Old root', null));
});

test('a valid chain has none, so no other failure names one', async () => {
  const [root, another] = [await makeAuthority('Trusted root'), await makeAuthority('Untrusted root')];
  const result = await attempt(root, await makeCertificate(another, ['localhost']), another);
  expect(result).toMatchObject({ error: 'tls', reason: 'certificate-unknown-issuer' });
  expect(result).not.toHaveProperty('expiredCertificate');
});

describe('the name, which the receiver chooses,', () => {
  const nameOf = async (commonName: string) => {
    const { cert } = await makeCertificate(undefined, [commonName], EXPIRED);
    return findExpired(new X509Certificate(cert), Date.now())?.name;
  };

  it('is cut to 64 characters', async () => {
    expect(await nameOf('\u{1f600}'.repeat(200))).toBe('\u{1f600}'.repeat(64));
  });

  it('has no control character', async () => {
    expect(await nameOf('a\0b\u001b[31m')).toBe('a\\00b\\1B[31m');
  });
});
