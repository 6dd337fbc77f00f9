import type { IssuedCredential } from '../../src/accounts/registration.js';
import { createRateLimit, type RateLimit, requester } from '../../src/limits/user-limits.js';
import { CONTEXT } from '../support/generators/webhook-samples.js';
import { type RunningApi, startApi } from '../support/scenes/api-fixture.js';
import { type BareApi, startBareApi } from '../support/scenes/bare-api.js';

const MINUTE = 60_000;

describe('a bucket', () => {
  let clock = 1_000_000.5;
  const limited = (perMinute: number) => createRateLimit(perMinute, () => clock);
  const allowed = (limit: RateLimit, times: number, account = 1, user = 'a') =>
    Array.from({ length: times }, () => limit(requester(account, user))).filter((waitMs) => waitMs === 0).length;

  it('allows a minute’s requests in one burst, half of them to one user; each account has its own', () => {
    const limit = limited(60);
    const perUser = ['a', 'a', 'b', 'c'].map((user) => allowed(limit, 100, 1, user));
    expect([...perUser, allowed(limit, 100, 2)]).toEqual([30, 0, 30, 0, 30]);
    for (let account = 10; account < 5_000; account += 1) expect(allowed(limit, 1, account)).toBe(1);
    expect(allowed(limit, 10)).toBe(0);
  });

  it('lets a user in who may exceed it, and takes nothing for that', () => {
    const limit = limited(2);
    expect([limit(requester(1, 'a')), limit(requester(1, 'b'))]).toEqual([0, 0]);
    expect(limit({ ...requester(1, 'c'), mayExceed: () => true })).toBe(0);
    expect(limit(requester(1, 'c'))).toBeCloseTo(MINUTE / 2);
  });

  it('fills evenly, never to more than a minute’s worth, and not more slowly because requests are refused', () => {
    const limit = limited(120);
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
    const one = () => limit(requester(1, 'a'));
    allowed(limit, 7);
    for (const waited of [0, 1, 4_000]) {
      clock += waited;
      expect(one()).toBeGreaterThan(0);
    }
    clock += one();
    expect(one()).toBe(0);
  });

  it('of 0 a minute is none', () => {
    expect(allowed(limited(0), 1000)).toBe(1000);
  });
});

describe('writes', () => {
  let bare: BareApi;
  afterEach(() => bare.close());

  const writes = ['POST /api/webhooks', 'PATCH /api/webhooks/1', 'DELETE /api/webhooks/1', 'POST /api/webhooks/1/test'];

  const adds = (route: string) => route.startsWith('POST');

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
    await startWith(8);
    for (const route of writes) expect((await send(route))[0]).not.toBe(429);
    for (const route of writes.filter(adds)) expect((await send(route))[0]).toBe(429);
    expect((await bare.client().list()).total).toBe(0);
    expect(await send('POST /api/webhooks', 7)).toEqual([415, null]);
  });
});

describe('of the settings', () => {
  let api: RunningApi;
  afterEach(() => api.close());

  const webhook = { url: 'https://shop.example.com/', eventType: 'cash_in' };

  it.each([
    ['4', [200, 400, 429]],
    ['0', [200, 400, 200]],
  ])(
    'RATE_LIMIT_WRITES limits the requests per minute of an account, half of it those of a user: %s',
    async (RATE_LIMIT_WRITES, statuses) => {
      api = await startApi({ RATE_LIMIT_WRITES });
      const client = await api.account(42);
      const answers = [await client.post(webhook), await client.post({}), await client.post(webhook)];
      expect(answers.map(({ status }) => status)).toEqual(statuses);
    },
  );

  it('RATE_LIMIT_TOKENS counts an account’s tokens once the client is authenticated: no client locks out another', async () => {
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
    let answer = await ask(account);
    let tokens = 0;
    for (; answer.status === 200 && tokens < 100; tokens += 1) answer = await ask(account);
    // Its share of the limit, and its reserve.
    expect(tokens).toBeGreaterThanOrEqual(61);
    expect((await ask(second)).status).toBe(200);
    const { status, headers, body } = answer;
    const refused = { error: 'temporarily_unavailable', error_description: expect.any(String) };
    expect({ status, body }).toEqual({ status: 429, body: refused });
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    expect([headers.get('cache-control'), headers.get('pragma')]).toEqual(['no-store', 'no-cache']);
    expect((await ask({ ...account, clientSecret: 'x' })).status).toBe(401);
    expect((await ask(other)).status).toBe(200);
  });
});
