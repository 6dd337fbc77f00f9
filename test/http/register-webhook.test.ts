/** POST /api/webhooks: what it makes of good requests. Its decisions are those of test/webhooks/decide.test.ts. */
import { EVENT_TYPES } from '../../src/webhooks/limits.js';
import type { Client } from '../support/clients/api-client.js';
import { accountForEachTest, type RunningApi } from '../support/scenes/api-fixture.js';

let api: RunningApi;
let client: Client;

accountForEachTest((own, running) => {
  [client, api] = [own, running];
});

const webhook = (path: string | number, more: object = {}) => ({
  url: `https://shop.example.com/${path}`,
  eventType: 'cash_in',
  ...more,
});

async function taken(...bodies: readonly unknown[]): Promise<void> {
  for (const body of bodies) expect(await client.post(body)).toMatchObject({ status: 200, body: { success: true } });
}

const listed = async () => (await client.list()).webhooks;
const paths = async () => (await listed()).map(({ url }) => url.replace('https://shop.example.com/', ''));

describe('a URL that is new for its type', () => {
  it('is answered with success and a message, and the next GET shows it', async () => {
    const before = new Date().toISOString();
    const { status, headers, body } = await client.post(webhook('in'));
    expect(headers.get('content-type')).toMatch(/^application\/json/);
    const listing = await client.list();
    const { id = 0, createdAt = '' } = listing.webhooks[0] ?? {};
    const shown = { id, type: 'cash_in', url: 'https://shop.example.com/in', headers: {}, isActive: true, createdAt };
    expect(listing).toStrictEqual({ accountId: client.credential.accountId, webhooks: [shown], total: 1 });
    expect({ status, body }).toStrictEqual({
      status: 200,
      body: { success: true, message: expect.any(String), webhook: shown },
    });
    expect(Number.isSafeInteger(id) && id > 0).toBe(true);
    expect(createdAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(createdAt >= before && createdAt <= new Date().toISOString()).toBe(true);
  });

  it('is in the answer as the list shows it, also after an update, a change of nothing and a reactivation', async () => {
    const headers = ['X-B', '__proto__'].map((key) => ({ key, value: 'v' }));
    for (const body of [webhook('in', { headers }), webhook('in', { headers }), webhook('./in')]) {
      expect((await client.post(body)).body).toMatchObject({ webhook: (await listed())[0] });
    }
    await client.patch((await listed())[0]?.id ?? 0, { isActive: false });
    expect((await client.post(webhook('in'))).body).toMatchObject({ webhook: (await listed())[0] });
  });

  it('may be of each of the seven types', async () => {
    await taken(...EVENT_TYPES.map((eventType) => webhook('in', { eventType })));
    expect((await listed()).map(({ type }) => type)).toEqual([...EVENT_TYPES]);
  });

  it('comes back as it was given, headers too, whatever their names mean to JavaScript', async () => {
    const url = 'HTTPS://Shop.Example.COM:443/a/../b?q=Ä%20';
    const given = { 'X-Api-KEY': 'Bearer a b\tc', 'x-empty': '', constructor: 'toString', 'x!#$%&': '{"a":1}' };
    const headers = [...Object.entries(given), ['__proto__', 'a name'] as const];
    await taken({ url, eventType: 'cash_in', headers: headers.map(([key, value]) => ({ key, value })) });
    const [shown] = await listed();
    expect([shown?.url, Object.entries(shown?.headers ?? {})]).toEqual([url, headers]);
  });

  it.each([
    ['an empty list of headers', '"headers":[]'],
    ['unknown fields', '"id":7,"isActive":false,"createdAt":"x","success":null,"nested":{"url":[1]}'],
    ['unknown fields in a header', '"headers":[{"key":"X-A","value":"v","secret":1}]'],
    ['a field of the name __proto__', '"__proto__":{"headers":[{"key":"X-Evil","value":"v"}],"isActive":false}'],
    ['an unknown field that is nested deeply', `"deep":${'['.repeat(20_000)}${']'.repeat(20_000)}`],
  ])('may come with %s', async (_, more) => {
    await taken(`{"url":"https://shop.example.com/in","eventType":"cash_in",${more}}`);
    const headers = more.includes('X-A"') ? { 'X-A': 'v' } : {};
    expect(await listed()).toMatchObject([{ url: 'https://shop.example.com/in', isActive: true, headers }]);
  });
});

describe('a URL that is registered for its type', () => {
  it('has its headers replaced, and keeps id, createdAt and place', async () => {
    await taken(webhook('a', { headers: [{ key: 'X-Old', value: '1' }] }), webhook('b'));
    const [first, second] = await listed();
    await taken(webhook('a', { headers: [{ key: 'X-New', value: '2' }] }));
    expect(await listed()).toStrictEqual([{ ...first, headers: { 'X-New': '2' } }, second]);
    await taken(webhook('a'));
    expect(await listed()).toStrictEqual([{ ...first, headers: {} }, second]);
  });

  it.each([
    'HTTPS://SHOP.example.com/a',
    'https://shop.example.com:443/a',
    'https://shop.example.com/b/../a',
    'https://shop.example.com/./%61/../a',
  ])('is the same as %s, and the spelling last given is shown', async (url) => {
    await taken(webhook('a'), { url, eventType: 'cash_in' });
    expect((await listed()).map((one) => one.url)).toEqual([url]);
    await taken(webhook('a'));
    expect(await paths()).toEqual(['a']);
  });

  it.each(['A', 'a/', 'a?', 'a?x', '%61'])('is not the same as /%s', async (other) => {
    await taken(webhook('a'), webhook(other));
    expect(await paths()).toEqual(['a', other]);
  });
});

it('webhooks are listed in the order they were created, over types too', async () => {
  await taken(webhook('z'), webhook('a', { eventType: 'refund_out' }), webhook('m'), webhook('z'));
  expect(await paths()).toEqual(['z', 'a', 'm']);
});

it('an account sees and changes its own webhooks only', async () => {
  const other = await api.account(1_000);
  await taken(webhook('a', { headers: [{ key: 'X-One', value: '1' }] }));
  expect(await other.list()).toEqual({ accountId: 1_000, webhooks: [], total: 0 });
  for (const path of ['a', 'b']) await other.post(webhook(path));
  expect(await listed()).toMatchObject([{ headers: { 'X-One': '1' } }]);
  const ids = [...(await listed()), ...(await other.list()).webhooks].map(({ id }) => id);
  expect(new Set(ids).size).toBe(3);
});

it('a fourth active URL for a type is 400, names the field, and changes nothing; other types are free', async () => {
  await taken(webhook(1), webhook(2), webhook(3));
  const before = await listed();
  const refused = await client.post(webhook(4));
  const error = { field: 'eventType', code: 'limit-reached', params: { limit: 3 } };
  expect(refused).toMatchObject({ status: 400, body: { code: 'invalid-fields', errors: [error] } });
  expect(await listed()).toEqual(before);
  await taken(webhook(3), webhook(4, { eventType: 'cash_out' }));
});

it('of 20 times the same URL at once all are taken, and one entry is left', async () => {
  const answers = await Promise.all(Array.from({ length: 20 }, () => client.post(webhook('same'))));
  expect(answers.every(({ status }) => status === 200)).toBe(true);
  expect(answers.filter(({ body }) => body.message === 'webhook registered')).toHaveLength(1);
  expect(await paths()).toEqual(['same']);
});
