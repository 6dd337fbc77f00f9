import { EVENT_TYPES } from '../../src/webhooks/limits.js';
import type { Client } from '../support/clients/api-client.js';
import { type RunningApi, startApi } from '../support/scenes/api-fixture.js';

let api: RunningApi;
let lastAccount = 0;

beforeAll(async () => {
  api = await startApi();
});

afterAll(() => api.close());

function newAccount(): Promise<Client> {
  lastAccount += 1;
  return api.account(lastAccount);
}

const webhook = (path: string, more: object = {}) => ({
  url: `https://shop.example.com/${path}`,
  eventType: 'cash_in',
  ...more,
});

async function taken(client: Client, ...bodies: readonly unknown[]): Promise<void> {
  for (const body of bodies) expect(await client.post(body)).toMatchObject({ status: 200, body: { success: true } });
}

const paths = async (client: Client) =>
  (await client.list()).webhooks.map(({ url }) => url.replace('https://shop.example.com/', ''));

describe('a URL that is new for its type', () => {
  it('is answered with success and a message, and the next GET shows it', async () => {
    const client = await newAccount();
    const before = new Date().toISOString();
    const { status, headers, body } = await client.post(webhook('in'));
    expect({ status, body }).toMatchObject({ status: 200, body: { success: true, message: expect.any(String) } });
    expect(headers.get('content-type')).toMatch(/^application\/json/);
    const listing = await client.list();
    const { id = 0, createdAt = '' } = listing.webhooks[0] ?? {};
    const shown = { id, type: 'cash_in', url: 'https://shop.example.com/in', headers: {}, isActive: true, createdAt };
    expect(listing).toStrictEqual({ accountId: client.credential.accountId, webhooks: [shown], total: 1 });
    expect(body).toStrictEqual({ success: true, message: expect.any(String), webhook: shown });
    expect(Number.isSafeInteger(id) && id > 0).toBe(true);
    expect(createdAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(createdAt >= before && createdAt <= new Date().toISOString()).toBe(true);
  });

  it('is in the answer as the list shows it, also after an update, a change of nothing and a reactivation', async () => {
    const client = await newAccount();
    const headers = [
      { key: 'X-B', value: 'v' },
      { key: '__proto__', value: 'a name' },
    ];
    const listed = async () => JSON.stringify((await client.list()).webhooks[0]);
    const answered = async (body: unknown) => {
      const answer = (await client.post(body)).body as { webhook?: { id: number } };
      return { id: answer.webhook?.id ?? 0, text: JSON.stringify(answer.webhook) };
    };
    const { id } = await answered(webhook('in'));
    for (const body of [webhook('in', { headers }), webhook('in', { headers }), webhook('./in')]) {
      expect((await answered(body)).text).toBe(await listed());
    }
    await client.patch(id, { isActive: false });
    expect((await answered(webhook('in'))).text).toBe(await listed());
  });

  it('may be of each of the seven types', async () => {
    const client = await newAccount();
    await taken(client, ...EVENT_TYPES.map((eventType) => webhook('in', { eventType })));
    const { webhooks, total } = await client.list();
    expect(webhooks.map(({ type }) => type)).toEqual([...EVENT_TYPES]);
    expect(total).toBe(7);
    expect(new Set(webhooks.map(({ id }) => id)).size).toBe(7);
  });

  it('comes back as it was given, headers too, whatever their names mean to JavaScript', async () => {
    const client = await newAccount();
    const url = 'HTTPS://Shop.Example.COM:443/a/../b?q=Ä%20';
    const given = { 'X-Api-KEY': 'Bearer a b\tc', 'x-empty': '', constructor: 'toString', 'x!#$%&': '{"a":1}' };
    const headers = [...Object.entries(given), ['__proto__', 'a name'] as const].map(([key, value]) => ({
      key,
      value,
    }));
    await taken(client, { url, eventType: 'cash_in', headers });
    const shown = (await client.list()).webhooks[0];
    expect(shown?.url).toBe(url);
    expect(Object.entries(shown?.headers ?? {})).toEqual(headers.map(({ key, value }) => [key, value]));
  });

  it.each([
    ['an empty list of headers', '"headers":[]'],
    ['unknown fields', '"id":7,"isActive":false,"createdAt":"x","success":null,"nested":{"url":[1]}'],
    ['unknown fields in a header', '"headers":[{"key":"X-A","value":"v","secret":1}]'],
    ['a field of the name __proto__', '"__proto__":{"headers":[{"key":"X-Evil","value":"v"}],"isActive":false}'],
    ['an unknown field that is nested deeply', `"deep":${'['.repeat(20_000)}${']'.repeat(20_000)}`],
  ])('may come with %s', async (_, more) => {
    const client = await newAccount();
    await taken(client, `{"url":"https://shop.example.com/in","eventType":"cash_in",${more}}`);
    const [shown] = (await client.list()).webhooks;
    expect(shown).toMatchObject({ url: 'https://shop.example.com/in', isActive: true });
    expect(Object.keys(shown?.headers ?? {})).toEqual(more.includes('X-A"') ? ['X-A'] : []);
  });
});

describe('a URL that is registered for its type', () => {
  it('has its headers replaced, and keeps id, createdAt and place', async () => {
    const client = await newAccount();
    await taken(client, webhook('a', { headers: [{ key: 'X-Old', value: '1' }] }), webhook('b'));
    const before = await client.list();
    await taken(client, webhook('a', { headers: [{ key: 'X-New', value: '2' }] }));
    const [first, second] = before.webhooks;
    expect(await client.list()).toStrictEqual({
      ...before,
      webhooks: [{ ...first, headers: { 'X-New': '2' } }, second],
    });
  });

  it('has no headers after an update without', async () => {
    const client = await newAccount();
    await taken(client, webhook('a', { headers: [{ key: 'X-Old', value: '1' }] }), webhook('a'));
    expect((await client.list()).webhooks).toMatchObject([{ headers: {} }]);
  });

  it.each([
    'HTTPS://SHOP.example.com/a',
    'https://shop.example.com:443/a',
    'https://shop.example.com/b/../a',
    'https://shop.example.com/./%61/../a',
  ])('is the same as %s, and the spelling last given is shown', async (other) => {
    const client = await newAccount();
    await taken(client, webhook('a'), { url: other, eventType: 'cash_in' });
    expect((await client.list()).webhooks.map(({ url }) => url)).toEqual([other]);
    await taken(client, webhook('a'));
    expect(await paths(client)).toEqual(['a']);
  });

  it.each(['A', 'a/', 'a?', 'a?x', '%61'])('is not the same as /%s', async (other) => {
    const client = await newAccount();
    await taken(client, webhook('a'), webhook(other));
    expect(await paths(client)).toEqual(['a', other]);
  });

  it('is another webhook for another type, and its update leaves that one alone', async () => {
    const client = await newAccount();
    const headers = [{ key: 'X-A', value: 'v' }];
    await taken(client, webhook('a'), webhook('a', { eventType: 'cash_out' }), webhook('a', { headers }));
    expect((await client.list()).webhooks).toMatchObject([
      { type: 'cash_in', headers: { 'X-A': 'v' } },
      { type: 'cash_out', headers: {} },
    ]);
  });
});

it('webhooks are listed in the order they were created, over types too', async () => {
  const client = await newAccount();
  await taken(client, webhook('z'), webhook('a', { eventType: 'refund_out' }), webhook('m'), webhook('z'));
  expect(await paths(client)).toEqual(['z', 'a', 'm']);
});

it('an account sees and changes its own webhooks only', async () => {
  const [one, other] = [await newAccount(), await newAccount()];
  await taken(one, webhook('a', { headers: [{ key: 'X-One', value: '1' }] }));
  expect(await other.list()).toEqual({ accountId: other.credential.accountId, webhooks: [], total: 0 });
  await taken(other, webhook('a'), webhook('b'));
  expect((await one.list()).webhooks).toMatchObject([{ headers: { 'X-One': '1' } }]);
  const ids = [...(await one.list()).webhooks, ...(await other.list()).webhooks].map(({ id }) => id);
  expect(new Set(ids).size).toBe(3);
});
