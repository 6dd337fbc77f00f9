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

  it('gives a minute’s worth at once, and then none; each account has its own', () => {
    const limit = limited(60);
    expect([allowed(limit, 100), allowed(limit, 100), allowed(limit, 100, 2)]).toEqual([60, 0, 60]);
    for (let account = 10; account < 5_000; account += 1) expect(allowed(limit, 1, account)).toBe(1);
    expect(allowed(limit, 10)).toBe(0);
  });

  it('fills evenly, never to more than a minute’s worth, and not more slowly because requests are refused', () => {
    const limit = limited(60);
    allowed(limit, 60);
    clock += 999;
    expect(allowed(limit, 10)).toBe(0);
    clock += 1;
    expect(allowed(limit, 10)).toBe(1);
    let taken = 0;
    for (let ms = 0; ms < 10_000; ms += 100) {
      clock += 100;
      taken += allowed(limit, 3);
    }
    expect(taken).toBe(10);
    clock += 60 * MINUTE;
    expect(allowed(limit, 1000)).toBe(60);
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
    expect(allowed(limited(0), 1000)).toBe(1000);
  });
});

describe('writes', () => {
  let bare: BareApi;
  afterEach(() => bare.close());

  const writes = ['POST /api/webhooks', 'PATCH /api/webhooks/1', 'DELETE /api/webhooks/1', 'POST /api/webhooks/1/test'];

  async function startWith(perMinute: number): Promise<void> {
    const limit = createRateLimit(perMinute, () => 0);
    bare = await startBareApi({ parts: { rateLimits: { writes: limit, tests: limit, tokens: limit } } });
  }

  async function send(route: string, accountId = 42) {
    const [method = '', path = ''] = route.split(' ');
    const { status, headers } = await bare.client(accountId).send(method, path, { bytes: 'x' });
    return [status, headers.get('retry-after')];
  }

  it('share one bucket; reading is not limited, nor is another account', async () => {
    await startWith(4);
    for (const route of writes) expect((await send(route))[0]).not.toBe(429);
    for (const route of writes) expect((await send(route))[0]).toBe(429);
    expect((await bare.client().list()).total).toBe(0);
    expect(await send('POST /api/webhooks', 7)).toEqual([415, null]);
  });
});

describe('of the settings', () => {
  let api: RunningApi;
  afterEach(() => api.close());

  const webhook = { url: 'https://shop.example.com/', eventType: 'cash_in' };

  it.each([
    ['2', [200, 400, 429]],
    ['0', [200, 400, 200]],
  ])('RATE_LIMIT_WRITES is the requests a minute of an account, 0 none: %s', async (RATE_LIMIT_WRITES, statuses) => {
    api = await startApi({ RATE_LIMIT_WRITES });
    const client = await api.account(42);
    const answers = [await client.post(webhook), await client.post({}), await client.post(webhook)];
    expect(answers.map(({ status }) => status)).toEqual(statuses);
  });

  it('RATE_LIMIT_TOKENS counts an account’s tokens once the client is authenticated: nobody locks out another', async () => {
    api = await startApi({ RATE_LIMIT_TOKENS: '2' });
    const account = await api.registration.register(42, CONTEXT);
    const second = await api.registration.issueCredential(42, CONTEXT);
    const other = await api.registration.register(43, CONTEXT);
    const ask = async ({ clientId, clientSecret }: Pick<IssuedCredential, 'clientId' | 'clientSecret'>) => {
      const credentials = { client_id: clientId, client_secret: clientSecret };
      const body = new URLSearchParams({ grant_type: 'client_credentials', ...credentials });
      const response = await fetch(`${api.url}/oauth/token`, { method: 'POST', body });
      return { status: response.status, headers: response.headers, body: (await response.json()) as unknown };
    };
    for (let round = 0; round < 5; round += 1) {
      expect((await ask({ ...account, clientSecret: other.clientSecret })).status).toBe(401);
    }
    expect([(await ask(account)).status, (await ask(second)).status]).toEqual([200, 200]);
    const { status, headers, body } = await ask(account);
    const refused = { error: 'temporarily_unavailable', error_description: expect.any(String) };
    expect({ status, body }).toEqual({ status: 429, body: refused });
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    expect([headers.get('cache-control'), headers.get('pragma')]).toEqual(['no-store', 'no-cache']);
    expect((await ask({ ...account, clientSecret: 'x' })).status).toBe(401);
    expect((await ask(other)).status).toBe(200);
  });
});
