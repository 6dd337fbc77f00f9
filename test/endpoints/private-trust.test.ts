/** What DELIVERY_CA_FILE may hold. */
import { createServer } from 'node:tls';
import { AttemptFixture, failure, OK, send } from '../support/scenes/attempt-fixture.js';
import { type Certificate, certificateFor, newAuthority, testAuthority } from '../support/servers/certificates.js';

const fixture = new AttemptFixture();
afterEach(() => fixture.close());

let issuing: Certificate;
let server: Certificate;
beforeAll(async () => {
  ({ authority: issuing, server } = await newAuthority(await testAuthority()));
});

const DELIVERED = { kind: 'delivered', status: 200 };

async function sentTo(certificate: Certificate, ca: string) {
  const receiver = createServer(certificate, (socket) => socket.once('data', () => socket.write(OK)));
  receiver.on('tlsClientError', () => {});
  const { port } = await fixture.listening(receiver);
  return send(await fixture.agent({ ca }), `https://localhost:${port}/`);
}

test('an intermediate CA is trusted, whether or not the receiver sends it', async () => {
  const chain = { ...server, cert: `${server.cert}\n${issuing.cert}` };
  expect(await sentTo(server, issuing.cert)).toMatchObject(DELIVERED);
  expect(await sentTo(chain, issuing.cert)).toMatchObject(DELIVERED);
});

test("a receiver's own certificate is trusted", async () => {
  expect(await sentTo(server, server.cert)).toMatchObject(DELIVERED);
});

test('each certificate of a file is trusted', async () => {
  expect(await sentTo(server, `${(await certificateFor()).cert}\n${issuing.cert}`)).toMatchObject(DELIVERED);
});

test("a CA does not make its issuer's other certificates trusted, nor a certificate its issuer's", async () => {
  const other = await certificateFor(['localhost']);
  for (const ca of [issuing.cert, server.cert]) expect(await sentTo(other, ca)).toMatchObject(failure('tls'));
});

test('a root alone does not replace a CA that the receiver omits', async () => {
  expect(await sentTo(server, (await testAuthority()).cert)).toMatchObject(failure('tls'));
});
