import { getEventListeners } from 'node:events';
import { createServer as createTcpServer } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { type AttemptRequest, type AttemptResult, createAttempt } from '../../../src/delivery/attempt/attempt.js';
import { classify, endOf } from '../../../src/delivery/attempt/classification.js';
import { AttemptFixture, requestTo as bareRequestTo, LONG } from '../../support/scenes/attempt-fixture.js';
import { type ReceiverOptions, type Reply, startReceiver } from '../../support/servers/receiver.js';

const SECRET = Buffer.alloc(32, 1);
const BODY = Buffer.from('{"amount": 12345678901234567890.10, "name": "Zoë\\u00eb"}');

const fixture = new AttemptFixture();
afterEach(() => fixture.close());

async function receiver(options: ReceiverOptions = {}) {
  const started = await startReceiver(options);
  fixture.onClose(started.close);
  return started;
}

const requestTo = (url: string) => ({ ...bareRequestTo(url), body: BODY, secrets: [SECRET] });

async function attempts(now = Date.now) {
  return createAttempt({ agent: await fixture.agent(), timeoutMs: LONG, now, userAgent: 'test/1' });
}

async function attemptOnce(url: string, request: Partial<AttemptRequest> = {}): Promise<AttemptResult> {
  return (await attempts())({ ...requestTo(url), ...request });
}

describe('what is sent', () => {
  test('is a POST of the very bytes, signed, with the headers of Standard Webhooks', async () => {
    const { url, requests } = await receiver();
    await attemptOnce(`${url}/in?a=1&b=%20`);
    expect(requests).toHaveLength(1);
    const [{ method, path, body, headers }] = requests as [(typeof requests)[0]];
    expect({ method, path }).toEqual({ method: 'POST', path: '/in?a=1&b=%20' });
    expect(body).toEqual(BODY);
    expect(headers).toMatchObject({
      host: url.slice('https://'.length),
      'content-type': 'application/json',
      'content-length': String(BODY.length),
      'user-agent': 'test/1',
      'webhook-id': 'msg_1',
    });
    new Webhook(`whsec_${SECRET.toString('base64')}`).verify(body, headers as Record<string, string>);
  });

  test('has a timestamp in seconds of this try, and the result tells when and how long', async () => {
    const { url, requests } = await receiver();
    const times = [1_700_000_000_999, 1_700_000_001_234];
    const now = () => times.shift() ?? Number.NaN;
    expect(await (await attempts(now))(requestTo(url))).toEqual({
      kind: 'delivered',
      at: 1_700_000_000_999,
      durationMs: 235,
      status: 200,
      error: null,
      retryAfterMs: null,
    });
    expect(requests[0]?.headers['webhook-timestamp']).toBe('1700000000');
  });

  test("has the webhook's own headers last and as they were given", async () => {
    const { url, requests } = await receiver();
    const own = [
      { key: 'X-MiXed-Case', value: 'a b\tc' },
      { key: '__proto__', value: 'p' },
      { key: 'constructor', value: 'c' },
      { key: 'Authorization', value: 'Bearer x' },
      { key: 'x-empty', value: '' },
    ];
    expect(await attemptOnce(url, { headers: own })).toMatchObject({ kind: 'delivered' });
    expect(requests[0]?.rawHeaders.slice(-2 * own.length - 2, -2)).toEqual(
      own.flatMap(({ key, value }) => [key, value]),
    );
    expect(requests[0]?.rawHeaders.at(-2)).toBe('content-length');
  });

  test('has the content type and the attributes of a CloudEvent, which headers of the webhook replace', async () => {
    const { url, requests } = await receiver();
    const attributes = [
      { key: 'ce-id', value: 'pay-1' },
      { key: 'ce-note', value: 'a%20b' },
    ];
    await attemptOnce(url, {
      content: { type: 'application/avro', attributes },
      headers: [{ key: 'Ce-Id', value: 'own' }],
    });
    const names = (requests[0]?.rawHeaders ?? []).filter((_, at) => at % 2 === 0);
    expect(requests[0]?.headers).toMatchObject({
      'content-type': 'application/avro',
      'ce-id': 'own',
      'ce-note': 'a%20b',
    });
    expect(names.filter((name) => /^ce-/i.test(name))).toEqual(['ce-note', 'Ce-Id']);
  });

  test('goes to its URL, whatever HTTPS_PROXY and the like say', async () => {
    const proxy = await fixture.listening(createTcpServer((socket) => socket.destroy()));
    const { url } = await receiver();
    const names = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'ALL_PROXY'];
    for (const name of names) process.env[name] = `http://127.0.0.1:${proxy.port}`;
    fixture.onClose(async () => {
      for (const name of names) delete process.env[name];
    });
    expect(await attemptOnce(url)).toMatchObject({ kind: 'delivered' });
  });
});

describe('what a full response means', () => {
  test.each([
    ['delivered', [200, 201, 204, 299], 'succeeded'],
    // A 410 shows nothing: the webhook is gone, not the endpoint.
    ['gone', [410], 'unknown'],
    ['retryable', [300, 304, 400, 404, 500, 599], 'failed'],
    ['retryable', [429], 'refused'],
  ])('is %s of the statuses %j', (kind, statuses, signal) => {
    for (const status of statuses) {
      const decided = { kind: 'response', status, retryAfter: null } as const;
      const made = classify(decided, 0);
      expect(made).toEqual({ kind, status, error: null, retryAfterMs: null });
      expect(endOf(made)).toMatchObject({ signal });
    }
  });

  test('a redirect is not followed', async () => {
    const { url, requests } = await receiver({ respond: () => ({ status: 307, headers: { location: '/elsewhere' } }) });
    expect(await attemptOnce(url)).toMatchObject({ kind: 'retryable', error: null, status: 307 });
    expect(requests).toHaveLength(1);
  });

  const inTwoMinutes = new Date(1_700_000_120_000).toUTCString();
  test.each<[Reply, number | null]>([
    [{ status: 429, headers: { 'retry-after': '120' } }, 120_000],
    [{ status: 503, headers: { 'Retry-After': inTwoMinutes } }, 120_000],
    [{ status: 429 }, null],
    [{ status: 503, headers: { 'retry-after': 'soon' } }, null],
    [{ status: 429, headers: { 'retry-after': `Mon, ${'-'.repeat(600)}` } }, null],
    [{ status: 500, headers: { 'retry-after': '120' } }, null],
    [{ status: 200, headers: { 'retry-after': '120' } }, null],
  ])('is a pause by its Retry-After, or none: %j', async (reply, retryAfterMs) => {
    const { url } = await receiver({ respond: () => reply });
    const attempt = await attempts(() => 1_700_000_000_000);
    expect(await attempt(requestTo(url))).toMatchObject({ error: null, retryAfterMs });
  });
});

describe('our own shutdown', () => {
  const INTERRUPTED = { kind: 'interrupted', status: null, error: null, retryAfterMs: null };

  test('ends the wait for an answer, which is interrupted then', async () => {
    const shutdown = new AbortController();
    const respond = (): Reply => {
      shutdown.abort();
      return 'hang';
    };
    const { url } = await receiver({ respond });
    expect(await attemptOnce(url, { signal: shutdown.signal })).toMatchObject(INTERRUPTED);
  });

  test('has one listener for a hundred attempts, which keep connections', async () => {
    const { url, requests, sockets } = await receiver();
    const { signal } = new AbortController();
    const attempt = await attempts();
    for (let round = 0; round < 10; round++) {
      const results = await Promise.all(Array.from({ length: 10 }, () => attempt({ ...requestTo(url), signal })));
      expect(results.map(({ kind }) => kind)).toEqual(Array(10).fill('delivered'));
    }
    expect(requests).toHaveLength(100);
    expect(sockets.size).toBeLessThan(100);
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
  });
});
