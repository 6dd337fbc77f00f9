/** What the account sees of receivers of each kind, and what it shows to their breakers. docs/receivers.md explains it. */
import { type AttemptResult, createAttempt } from '../../src/delivery/attempt/attempt.js';
import { endOf } from '../../src/delivery/attempt/classification.js';
import { CAUSES } from '../../src/endpoints/attempt-causes.js';
import { FAILURE_CODES, shownFailure } from '../../src/endpoints/failure.js';
import { patience } from '../runner/patience.js';
import { AttemptFixture, LONG, requestTo } from '../support/scenes/attempt-fixture.js';
import type { OddReceiver } from '../support/servers/odd-receiver.js';
import { ODD_RECEIVERS, oddReceivers } from '../support/servers/odd-receivers.js';

/** By what the receiver does: what the account sees, and the signal where the URL was not just reached and failed. */
const SEEN: Readonly<Record<string, string>> = {
  'responds 2xx': 'delivered 200',
  'responds 2xx, and its body never comes, is cut short, is too long or is broken': 'delivered 200',
  'responds 204 with a `Content-Length` or a body': 'delivered 204',
  'sends `100 Continue` unasked, then 2xx': 'delivered 200',
  'responds 2xx with up to 64 KiB of headers': 'delivered 200',
  'responds 2xx, and what follows the status line is not valid HTTP': 'delivered 200',
  'responds 2xx, and its headers do not end': 'delivered 200',
  'responds before it has read the request, and closes the connection': 'delivered 200',
  'responds 410': 'deactivated 410',
  redirects: 'retried 302',
  'responds 401': 'retried 401',
  'responds 429 or 503': 'retried 503',
  'responds 5xx': 'retried 500',
  'responds with a status that HTTP does not have': 'retried 600',
  'switches protocols': 'retried 101',
  'does not accept the connection': 'retried timeout connecting, unreachable',
  'accepts the connection, and leaves TLS unanswered': 'retried timeout handshake, unreachable',
  'responds too late': 'retried timeout waiting-for-headers',
  'has nothing that listens on the port': 'retried connection-refused, unreachable',
  'closes the connection during the TLS handshake': 'retried connection-reset handshake, tls-failed',
  'closes the connection instead of an answer': 'retried connection-reset waiting-for-headers',
  'presents a certificate that has expired': 'retried tls certificate-expired, tls-failed',
  'presents a certificate that is not valid yet': 'retried tls certificate-not-yet-valid, tls-failed',
  'presents a certificate for another name': 'retried tls certificate-other-name, tls-failed',
  'presents a self-signed certificate': 'retried tls certificate-self-signed, tls-failed',
  'presents a certificate without that of its issuer': 'retried tls intermediate-missing, tls-failed',
  'presents a chain of an authority that is not trusted': 'retried tls certificate-unknown-issuer, tls-failed',
  'speaks no TLS on the port': 'retried tls not-tls, tls-failed',
  'speaks TLS 1.1 or older only': 'retried tls protocol-version, tls-failed',
  'has no cipher suite or key exchange in common': 'retried tls no-common-cipher, tls-failed',
  'demands a client certificate': 'retried tls client-certificate-required, tls-failed',
  'speaks HTTP/2 only, and says so in TLS': 'retried tls no-http1, tls-failed',
  'speaks HTTP/2 only, and says so afterwards': 'retried invalid-response no-http1',
  'speaks another protocol in TLS': 'retried invalid-response not-http',
  'sends more than the limits before it responds': 'retried invalid-response too-much',
  'has an address that no route leads to': 'retried network, unreachable',
  'has a host that does not resolve, or resolves to a non-public address': 'retried host, unreachable',
};

const fixture = new AttemptFixture();
afterEach(() => fixture.close());

test.each(Object.entries(SEEN))('a receiver that %s is shown as: %s', async (does, sees) => {
  const shown: Record<string, string> = {};
  const receivers = await oddReceivers(does, fixture);
  await Promise.all(receivers.map(async (one) => (shown[one.name] = shownAs(await attempted(one)))));
  expect(shown).toEqual(Object.fromEntries(receivers.map(({ name }) => [name, sees])));
  expect(receivers).not.toEqual([]);
});

test('each receiver, each error and each reason is in this table', () => {
  expect(Object.keys(SEEN)).toEqual(Object.keys(ODD_RECEIVERS));
  const errors = new Set(FAILURE_CODES.map((error) => shownFailure({ error }).error));
  expect(new Set(Object.keys(CAUSES.errors))).toEqual(errors);
  const words = new Set(Object.values(SEEN).flatMap((sees) => sees.split(/,? /)));
  const codes = [...errors, ...Object.keys(CAUSES.reasons)];
  expect(codes.filter((code) => !words.has(String(code)))).toEqual([]);
});

async function attempted({ url, agent, timeoutMs, body }: OddReceiver): Promise<AttemptResult> {
  const common = { agent: await fixture.agent(agent), now: Date.now, userAgent: 'test/1' };
  return createAttempt({ ...common, timeoutMs: timeoutMs ? timeoutMs * patience() : LONG })({
    ...requestTo(url),
    ...(body && { body }),
  });
}

function shownAs(result: AttemptResult): string {
  const kind = WORDS[result.kind];
  if (result.error === null) return `${kind} ${result.status}`;
  const { error, reason } = shownFailure(result);
  const { signal } = endOf(result);
  return `${kind} ${error}${reason === null ? '' : ` ${reason}`}${signal === 'failed' ? '' : `, ${signal}`}`;
}

const WORDS = { delivered: 'delivered', gone: 'deactivated', retryable: 'retried', interrupted: 'nothing' };
