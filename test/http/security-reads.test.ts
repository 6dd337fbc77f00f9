/** GET /api/credentials and GET /api/client-certificate. */
import { X509Certificate } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '../support/clients/api-client.js';
import { CONTEXT } from '../support/generators/webhook-samples.js';
import { type RunningApi, startApi } from '../support/scenes/api-fixture.js';
import { temporaryDirectory } from '../support/scenes/temporary-directory.js';
import { certificateFor, testAuthority } from '../support/servers/certificates.js';

let api: RunningApi;
let client: Client;

beforeAll(async () => {
  api = await startApi();
  client = await api.account(42);
});

afterAll(() => api.close());

const certificateOf = async (by: Client) =>
  (await by.send<{ certificate: Readonly<Record<string, string>> | null }>('GET', '/api/client-certificate')).body;

test('credentials are listed while they are valid, each account its own, and never their secrets', async () => {
  await api.account(43);
  const { clientId, clientSecret } = await api.registration.issueCredential(42, CONTEXT);
  const first = { clientId: client.credential.clientId, issuedAt: expect.any(String) };
  const listed = await client.send('GET', '/api/credentials');
  expect(listed.body).toEqual({ credentials: [first, { clientId, issuedAt: expect.any(String) }] });
  expect(JSON.stringify(listed.body)).not.toContain(clientSecret);
  await api.registration.revokeCredential(clientId, CONTEXT);
  expect((await client.send('GET', '/api/credentials')).body).toEqual({ credentials: [first] });
});

test('without a client certificate there is none to show', async () => {
  expect(await certificateOf(client)).toEqual({ certificate: null });
});

test('the client certificate is shown with its chain, also from a file that holds its key', async () => {
  const directory = temporaryDirectory();
  const { cert, key } = await certificateFor(['webhooks.example']);
  const { cert: chain } = await testAuthority();
  const path = join(directory.path, 'client.pem');
  writeFileSync(path, key + cert + chain);
  const other = await startApi({ DELIVERY_CLIENT_CERT_FILE: path, DELIVERY_CLIENT_KEY_FILE: path });
  try {
    const certificate = (await certificateOf(await other.account(42))).certificate ?? {};
    const { subject, issuer, fingerprint256: fingerprint } = new X509Certificate(cert);
    expect(certificate).toMatchObject({ subject, issuer, fingerprint });
    expect(Date.parse(certificate.validFrom ?? '')).toBeLessThan(Date.now());
    expect(Date.parse(certificate.validTo ?? '')).toBeGreaterThan(Date.now());
    expect(certificate.pem?.trim().split(/\n(?=-----BEGIN )/)).toEqual([cert.trim(), chain.trim()]);
  } finally {
    await other.close();
    directory.remove();
  }
});
