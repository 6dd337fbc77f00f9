import type { IssuedCredential } from '../../src/accounts/registration.js';
import { createRateLimit, type RateLimit } from '../../src/http/rate-limit.js';
import { CONTEXT } from '../support/generators/webhook-samples.js';
import { type RunningApi, startApi } from '../support/scenes/api-fixture.js';
import { type BareApi, startBareApi } from '../support/scenes/bare-api.js';

const MINUTE = 60_000;

describe('a bucket', () => {
  let clock = 1_000_000.5;
  const limited = (perMinute: number) => createRateLimit(perMinute, () => clock);
  const allowed = (limit: RateLimit, times: number, account = 1) =>
    Array.from({ length: times }, () => limit(account)).filter((waitMs) => waitMs === 0).length;

  it('gives a minute’s worth at once, and then none', () => {
    const limit = limited(60);
    expect(allowed(limit, 100)).toBe(60);
    expect(allowed(limit, 100)).toBe(0);
  });

  it('fills evenly, and never to more than a minute’s worth', () => {
    const limit = limited(60);
    allowed(limit, 60);
    clock += 999;
    expect(allowed(limit, 10)).toBe(0);
    clock += 1;
    expect(allowed(limit, 10)).toBe(1);
    clock += 10_000;
    expect(allowed(limit, 100)).toBe(10);
    clock += 60 * MINUTE;
    expect(allowed(limit, 1000)).toBe(60);
  });

  it('does not fill more slowly because requests are refused', () => {
    const limit = limited(60);
    allowed(limit, 60);
    let taken = 0;
    for (let ms = 0; ms < 10_000; ms += 100) {
      clock += 100;
      taken += allowed(limit, 3);
    }
    expect(taken).toBe(10);
    clock += 5_000;
    expect(allowed(limit, 100)).toBe(5);
  });

  it('is an account’s own', () => {
    const limit = limited(3);
    expect(allowed(limit, 10, 1)).toBe(3);
    expect(allowed(limit, 10, 2)).toBe(3);
    for (let account = 10; account < 5_000; account += 1) expect(allowed(limit, 1, account)).toBe(1);
    expect(allowed(limit, 10, 1)).toBe(0);
  });

  it('says when the next one is taken: then it is', () => {
    const limit = limited(7);
    allowed(limit, 7);
    for (const waited of [0, 1, 4_000]) {
      clock += waited;
      expect(limit(1)).toBeGreaterThan(0);
    }
    clock += limit(1);
    expect(limit(1)).toBe(0);
  });

  it('of 0 a minute is none', () => {
    const limit = limited(0);
    expect(allowed(limit, 1000)).toBe(1000);
  });
});

describe('writes', () => {
  let bare: BareApi | undefined;

  afterEach(async () => {
    await bare?.close();
    bare = undefined;
  });

  const writes: [method: string, path: string][] = [
    ['POST', '/api/webhooks'],
    ['PATCH', '/api/webhooks/1'],
    ['DELETE', '/api/webhooks/1'],
    ['POST', '/api/webhooks/1/test'],
  ];

  async function startWith(perMinute: number): Promise<BareApi> {
    const limit = createRateLimit(perMinute, () => 0);
    bare = await startBareApi({ parts: { rateLimits: { writes: limit, tests: limit, tokens: limit } } });
    return bare;
  }

  async function send({ url }: BareApi, method: string, path: string, caller = 'caller-42') {
    const headers = { authorization: `Bearer ${caller}`, 'content-type': 'text/plain' };
    const response = await fetch(url + path, { method, headers, ...(method !== 'GET' && { body: 'x' }) });
    return { status: response.status, headers: response.headers, body: (await response.json()) as unknown };
  }

  it.each(writes)('%s %s counts and is limited: 401 comes before the 429, everything else after', async (...route) => {
    const running = await startWith(1);
    expect((await send(running, ...route, 'nobody')).status).toBe(401);
    expect([404, 415]).toContain((await send(running, ...route)).status);
    const { status, headers, body } = await send(running, ...route);
    expect({ status, body }).toMatchObject({
      status: 429,
      body: { success: false, message: expect.any(String), code: expect.any(String) },
    });
    expect(headers.get('retry-after')).toBe('60');
    expect((await send(running, ...route, 'nobody')).status).toBe(401);
  });

  it('share one bucket; reading is not limited, nor is another account', async () => {
    const running = await startWith(4);
    for (const route of writes) expect((await send(running, ...route)).status).not.toBe(429);
    for (const route of writes) expect((await send(running, ...route)).status).toBe(429);
    expect((await send(running, 'GET', '/api/webhooks')).status).toBe(200);
    expect((await send(running, 'POST', '/api/webhooks', 'caller-7')).status).toBe(415);
  });
});

describe('of the settings', () => {
  let api: RunningApi | undefined;

  afterEach(async () => {
    await api?.close();
    api = undefined;
  });

  const webhook = { url: 'https://shop.example.com/', eventType: 'cash_in' };

  it('RATE_LIMIT_WRITES is the requests a minute of an account', async () => {
    api = await startApi({ RATE_LIMIT_WRITES: '2' });
    const client = await api.account(42);
    const answers = [await client.post(webhook), await client.post({}), await client.post(webhook)];
    expect(answers.map(({ status }) => status)).toEqual([200, 400, 429]);
    expect((await client.list()).total).toBe(1);
  });

  it('0 is off', async () => {
    api = await startApi({ RATE_LIMIT_WRITES: '0' });
    const client = await api.account(42);
    for (let n = 0; n < 3; n += 1) expect((await client.post(webhook)).status).toBe(200);
  });

  it('RATE_LIMIT_TOKENS counts an account’s tokens once the client is authenticated: nobody locks out another', async () => {
    api = await startApi({ RATE_LIMIT_TOKENS: '2' });
    const account = await api.registration.register(42, CONTEXT);
    const second = await api.registration.issueCredential(42, CONTEXT);
    const other = await api.registration.register(43, CONTEXT);
    const { url } = api;
    const ask = async ({ clientId, clientSecret }: IssuedCredential) => {
      const credentials = { client_id: clientId, client_secret: clientSecret };
      const body = new URLSearchParams({ grant_type: 'client_credentials', ...credentials });
      const response = await fetch(`${url}/oauth/token`, { method: 'POST', body });
      return { status: response.status, headers: response.headers, body: (await response.json()) as unknown };
    };
    for (let round = 0; round < 5; round += 1) {
      expect((await ask({ ...account, clientSecret: other.clientSecret })).status).toBe(401);
    }
    const granted = [await ask(account), await ask(second)];
    expect(granted.map(({ status }) => status)).toEqual([200, 200]);
    const { status, headers, body } = await ask(account);
    expect({ status, body }).toEqual({
      status: 429,
      body: { error: 'temporarily_unavailable', error_description: expect.any(String) },
    });
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    expect({ cache: headers.get('cache-control'), pragma: headers.get('pragma') }).toEqual({
      cache: 'no-store',
      pragma: 'no-cache',
    });
    expect((await ask({ ...account, clientSecret: 'x' })).status).toBe(401);
    expect((await ask(other)).status).toBe(200);
  });
});
