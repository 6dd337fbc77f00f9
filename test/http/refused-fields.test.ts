/**
 * What a registration is refused for, by the field that is wrong. The rules of URLs and headers themselves are those of
 * test/endpoints/endpoint-url.test.ts and test/webhooks/header-rules.test.ts.
 */
import type { Client } from '../support/clients/api-client.js';
import { type RunningApi, startApi } from '../support/scenes/api-fixture.js';

let api: RunningApi;
let client: Client;

beforeAll(async () => {
  api = await startApi({ ALLOW_PRIVATE_ENDPOINTS: 'false' });
  client = await api.account(42);
});

// Whatever was refused, nothing of it was kept.
afterEach(async () => {
  expect((await client.list()).total).toBe(0);
});

afterAll(() => api.close());

const GOOD = { url: 'https://shop.example.com/in', eventType: 'cash_in' };
const ok = { key: 'X-Ok', value: 'v' };

/** 400 in the contract's shape, whose message and errors name these fields and no others. */
async function refused(body: unknown, ...fields: readonly string[]): Promise<void> {
  const answer = await client.post(body);
  expect(answer.status).toBe(400);
  expect(Object.keys(answer.body)).toEqual(['success', 'message', 'code', 'errors']);
  expect(answer.body.errors?.map(({ field }) => field).toSorted()).toEqual(fields.toSorted());
  for (const { field, message } of answer.body.errors ?? []) {
    expect(message).toContain(field);
    expect(answer.body.message).toContain(message);
  }
}

describe('fields of another type are refused by name: nothing is coerced, null is not absent', () => {
  const { url, eventType } = GOOD;
  const named = (...keys: readonly string[]) => ({ ...GOOD, headers: keys.map((key) => ({ key, value: 'v' })) });
  it.each<[string, object, ...string[]]>([
    ['url missing', { eventType }, 'url'],
    ['both missing', {}, 'url', 'eventType'],
    ['url null', { ...GOOD, url: null }, 'url'],
    ['url a number', { ...GOOD, url: 1 }, 'url'],
    ['url a list', { ...GOOD, url: [url] }, 'url'],
    ['eventType null', { ...GOOD, eventType: null }, 'eventType'],
    ['eventType in another case', { ...GOOD, eventType: 'CASH_IN' }, 'eventType'],
    ['eventType of a prototype', { ...GOOD, eventType: 'constructor' }, 'eventType'],
    ['headers null', { ...GOOD, headers: null }, 'headers'],
    ['headers an object', { ...GOOD, headers: { 'X-A': 'v' } }, 'headers'],
    ['six headers', named('a', 'b', 'c', 'd', 'e', 'f'), 'headers'],
    ['thousands of headers, of which none is valid', { ...GOOD, headers: Array(20_000).fill(0) }, 'headers'],
    ['a header that is a list', { ...GOOD, headers: [ok, ['X-A', 'v']] }, 'headers[1]'],
    ['a header without key', { ...GOOD, headers: [{ value: 'v' }] }, 'headers[0].key'],
    ['a value null', { ...GOOD, headers: [ok, { key: 'X-A', value: null }] }, 'headers[1].value'],
    ['a value that is a number', { ...GOOD, headers: [{ key: 'X-A', value: 1 }] }, 'headers[0].value'],
    ['several at once', { url: 1, eventType: 2, headers: 3 }, 'url', 'eventType', 'headers'],
    ['a header of ours', named('X-Ok', 'webhook-id'), 'headers[1].key'],
    ['a header that ends another', named('X-A\r\nHost: evil'), 'headers[0].key'],
    ['a value that ends its header', { ...GOOD, headers: [{ ...ok, value: 'v\r\nHost: evil' }] }, 'headers[0].value'],
    ['a URL and a header', { ...named('X-A', 'x-a'), url: 'http://shop.example.com/in' }, 'url', 'headers[1].key'],
  ])('%s', (_, body, ...fields) => refused(body, ...fields));

  it('what is missing is not looked for in a field of the name __proto__', async () => {
    await refused(`{"__proto__":${JSON.stringify(GOOD)}}`, 'url', 'eventType');
    await refused(
      `{"url":"${url}","eventType":"cash_in","headers":[{"__proto__":{"key":"X","value":"v"}}]}`,
      ...['headers[0].key', 'headers[0].value'],
    );
  });
});

describe('hosts', () => {
  it.each(['https://127.0.0.1/', 'https://2130706433/', 'https://intranet/', 'https://db.internal/'])(
    'of this network are refused: %s',
    (url) => refused({ ...GOOD, url }, 'url'),
  );

  it('get one message, which tells nothing of this network', async () => {
    const hosts = ['10.0.0.1', '192.168.1.1', '127.0.0.1'];
    const answers = await Promise.all(hosts.map((host) => client.post({ ...GOOD, url: `https://${host}/` })));
    expect(new Set(answers.map(({ body }) => body.message)).size).toBe(1);
  });

  it('with ALLOW_PRIVATE_ENDPOINTS may be any of ALLOWED_PORTS but for DENIED_ADDRESSES, names judged later', async () => {
    const settings = { ALLOWED_PORTS: '443,20000-20100', DENIED_ADDRESSES: '127.0.0.0/8,fd00::/8' };
    const other = await startApi({ ...settings, ALLOW_PRIVATE_ENDPOINTS: 'true' });
    try {
      const account = await other.account(1);
      const answered = async (host: string) => {
        const { status, body } = await account.post({ url: `https://${host}/`, eventType: 'cash_in' });
        return `${host} ${status} ${body.errors?.map(({ field }) => field)}`;
      };
      for (const host of ['10.0.0.1', 'localhost:20100', 'intranet'])
        expect(await answered(host)).toBe(`${host} 200 undefined`);
      const denied = ['127.0.0.1', '2130706433', '[::ffff:127.0.0.1]', '[fd00::1]', 'localhost:20101', 'u@localhost'];
      for (const host of denied) expect(await answered(host)).toBe(`${host} 400 url`);
    } finally {
      await other.close();
    }
  });
});
