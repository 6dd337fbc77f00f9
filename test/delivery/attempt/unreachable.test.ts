/** Whether an attempt got a connection at all: the breaker of its host goes by it. */
import { createServer } from 'node:net';
import type { TlsOptions } from 'node:tls';
import type { AttemptResult } from '../../../src/delivery/attempt/attempt.js';
import { endOf } from '../../../src/delivery/attempt/classification.js';
import { DELIVERED, GONE, INTERRUPTED } from '../../support/generators/delivery-samples.js';
import { AttemptFixture, LONG, SHORT, send } from '../../support/scenes/attempt-fixture.js';
import { testAuthority } from '../../support/servers/certificates.js';
import { startReceiver } from '../../support/servers/receiver.js';

const fixture = new AttemptFixture();
afterEach(() => fixture.close());

async function attempted(url: string, timeoutMs = LONG): Promise<AttemptResult> {
  return send(await fixture.agent(), url, timeoutMs);
}

async function timedOut(url: string): Promise<AttemptResult> {
  return send(await fixture.agent({ connectTimeoutMs: SHORT }), url);
}

const local = (port: number) => `https://localhost:${port}/`;

test.each([
  ['nobody listens', async () => attempted(local((await closedPort()).port))],
  ['the name does not exist', () => attempted('https://no-such-name.invalid/')],
  ['no answer in TLS, until the deadline', async () => attempted(local((await silent()).port), SHORT)],
  ['no answer in TLS, until the limit for connecting', async () => timedOut(local((await silent()).port))],
])('%s: unreachable', async (_, attempt) => {
  const result = await attempt();
  expect(result).toMatchObject({ kind: 'retryable' });
  expect(endOf(result)).toMatchObject({ signal: 'unreachable' });
});

test.each([
  ['reset', async () => local((await resets()).port)],
  ['another name in the certificate', () => ofName('other.shop.com')],
  [
    'a client certificate is asked for in vain, TLS 1.2',
    () => ofName('localhost', { requestCert: true, maxVersion: 'TLSv1.2' }),
  ],
  ['a client certificate is asked for in vain, TLS 1.3', () => ofName('localhost', { requestCert: true })],
])('the handshake fails, %s: a failure of TLS', async (_, url) => {
  expect(endOf(await attempted(await url()))).toMatchObject({ signal: 'tls-failed' });
});

test.each([
  ['no answer to the request, until the deadline', () => undefined, SHORT],
  ['closed at the request', (socket: { destroy(): void }) => socket.destroy(), LONG],
  ['no HTTP', (socket: { end(text: string): void }) => socket.end('220 mail ready\r\n'), LONG],
  ['500', (socket: { end(text: string): void }) => socket.end('HTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n'), LONG],
])('%s: reached, and failed', async (_, answer, timeoutMs) => {
  const { port } = await fixture.scripted(answer);
  const result = await attempted(local(port), timeoutMs);
  expect(result.kind).toBe('retryable');
  expect(endOf(result)).toMatchObject({ signal: 'failed' });
});

test('what says nothing of the endpoint', () => {
  expect([DELIVERED, GONE, INTERRUPTED, null].map((made) => endOf(made).signal)).toEqual([
    'succeeded',
    'unknown',
    'unknown',
    'unknown',
  ]);
});

async function closedPort() {
  const listener = await fixture.listening(createServer());
  await listener.close();
  return listener;
}

async function ofName(name: string, tls: TlsOptions = {}): Promise<string> {
  const { cert: ca } = await testAuthority();
  const receiver = await startReceiver({ names: [name], tls: { ca, rejectUnauthorized: true, ...tls } });
  fixture.onClose(receiver.close);
  return receiver.url;
}

function silent() {
  return fixture.listening(createServer((socket) => socket.resume()));
}

function resets() {
  return fixture.listening(createServer((socket) => socket.once('data', () => socket.resetAndDestroy())));
}
