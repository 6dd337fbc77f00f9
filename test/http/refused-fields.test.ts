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
  expect(answer.body.success).toBe(false);
  expect(answer.body.errors?.map(({ field }) => field).toSorted()).toEqual(fields.toSorted());
  for (const { field, message } of answer.body.errors ?? []) {
    expect(message).toContain(field);
    expect(answer.body.message).toContain(message);
  }
}

describe('fields of another type are refused by name: nothing is coerced, null is not absent', () => {
  const { url, eventType } = GOOD;
  it.each<[string, object, ...string[]]>([
    ['url missing', { eventType }, 'url'],
    ['eventType missing', { url }, 'eventType'],
    ['both missing', {}, 'url', 'eventType'],
    ['url null', { ...GOOD, url: null }, 'url'],
    ['url a number', { ...GOOD, url: 1 }, 'url'],
    ['url a list', { ...GOOD, url: [url] }, 'url'],
    ['url an object', { ...GOOD, url: { href: url } }, 'url'],
    ['eventType null', { ...GOOD, eventType: null }, 'eventType'],
    ['eventType a list', { ...GOOD, eventType: ['cash_in'] }, 'eventType'],
    ['eventType unknown', { ...GOOD, eventType: 'cash' }, 'eventType'],
    ['eventType in another case', { ...GOOD, eventType: 'CASH_IN' }, 'eventType'],
    ['eventType with a space', { ...GOOD, eventType: 'cash_in ' }, 'eventType'],
    ['eventType empty', { ...GOOD, eventType: '' }, 'eventType'],
    ['eventType of a prototype', { ...GOOD, eventType: 'constructor' }, 'eventType'],
    ['headers null', { ...GOOD, headers: null }, 'headers'],
    ['headers an object', { ...GOOD, headers: { 'X-A': 'v' } }, 'headers'],
    ['headers text', { ...GOOD, headers: 'X-A: v' }, 'headers'],
    ['a header null', { ...GOOD, headers: [null] }, 'headers[0]'],
    ['a header that is a list', { ...GOOD, headers: [ok, ['X-A', 'v']] }, 'headers[1]'],
    ['a header without key', { ...GOOD, headers: [{ value: 'v' }] }, 'headers[0].key'],
    ['a header without value', { ...GOOD, headers: [ok, { key: 'X-A' }] }, 'headers[1].value'],
    ['a value null', { ...GOOD, headers: [{ key: 'X-A', value: null }] }, 'headers[0].value'],
    ['a value that is a number', { ...GOOD, headers: [{ key: 'X-A', value: 1 }] }, 'headers[0].value'],
    ['a value that is a boolean', { ...GOOD, headers: [{ key: 'X-A', value: true }] }, 'headers[0].value'],
    ['a key that is a number', { ...GOOD, headers: [{ key: 1, value: 'v' }] }, 'headers[0].key'],
    ['several at once', { url: 1, eventType: 2, headers: 3 }, 'url', 'eventType', 'headers'],
  ])('%s', (_, body, ...fields) => refused(body, ...fields));

  it('what is missing is not looked for in a field of the name __proto__', async () => {
    await refused(`{"__proto__":${JSON.stringify(GOOD)}}`, 'url', 'eventType');
    await refused(
      `{"url":"${url}","eventType":"cash_in","headers":[{"__proto__":{"key":"X","value":"v"}}]}`,
      ...['headers[0].key', 'headers[0].value'],
    );
  });
});

describe('headers', () => {
  const named = (...keys: readonly string[]) => ({ ...GOOD, headers: keys.map((key) => ({ key, value: 'v' })) });

  it.each([
    ...['host', 'Content-Length', 'CONNECTION', 'transfer-encoding', 'Content-Type', 'User-Agent'],
    ...['keep-alive', 'Proxy-Connection', 'proxy-authenticate', 'proxy-authorization', 'TE', 'trailer', 'Upgrade'],
    ...['Expect', 'webhook-id', 'Webhook-Timestamp', 'WEBHOOK-SIGNATURE', 'webhook-anything'],
  ])('of the name %s are refused', (key) => refused(named('X-Ok', key), 'headers[1].key'));

  it.each(['', ' X-A', 'X A', 'X-A\n', 'X-A\r\nHost: evil', 'X:A', 'X-\u00c4', 'X-\u212a', 'X\0', 'n'.repeat(65)])(
    'of the name %j are refused: no token of HTTP',
    (key) => refused(named(key), 'headers[0].key'),
  );

  it.each([' v', 'v ', 'v\r\nHost: evil', 'v\n', '\0', 'caf\u00e9', '\u20ac', '\ud800', 'v'.repeat(4097)])(
    'of the value %j are refused',
    (value) => refused({ ...GOOD, headers: [{ key: 'X-A', value }] }, 'headers[0].value'),
  );

  it('may be five and not six', () => refused(named('a', 'b', 'c', 'd', 'e', 'f'), 'headers'));

  it('stand once, whatever their case', async () => {
    await refused(named('X-A', 'X-B', 'x-a'), 'headers[2].key');
    await refused(named('__proto__', '__PROTO__'), 'headers[1].key');
  });

  it('that are refused are named beside a URL that is', () =>
    refused({ ...named('X-A', 'x-a'), url: 'http://shop.example.com/in' }, 'url', 'headers[1].key'));
});

describe('URLs are refused at field url', () => {
  it.each([
    ...['', ' ', 'shop.com', 'http://shop.com/', 'ftp://shop.com/', 'wss://shop.com/', '//shop.com/', 'https:shop.com'],
    ...['https://', 'https:///in', 'https:\\\\shop.com', 'https://?a', 'https://#a', 'javascript:alert(1)'],
    ...[
      ' https://shop.com/',
      'https://shop.com/\n',
      'https://shop.com/a b',
      'https://sh\top.com/',
      'https://a\\b.com/',
    ],
    ...['https://user@shop.com/', 'https://user:pass@shop.com/', 'https://@shop.com/', 'https://shop.com/#a'],
    ...['https://shop.com:80/', 'https://shop.com:22/', 'https://shop.com:65536/', 'https://shop.com:444/'],
    ...['https://127.0.0.1/', 'https://127.1/', 'https://2130706433/', 'https://0x7f000001/', 'https://017700000001/'],
    ...[
      'https://8.8.8.8/',
      'https://169.254.169.254/',
      'https://[::1]/',
      'https://[::ffff:10.0.0.1]/',
      'https://127.0.0.1./',
    ],
    ...['https://localhost/', 'https://a.localhost/', 'https://LOCALHOST/', 'https://intranet/', 'https://a.local/'],
    ...[
      'https://db.internal/',
      'https://a.localdomain/',
      'https://a.home.arpa/',
      'https://a.onion/',
      'https://a.test/',
    ],
    ...['https://a.invalid/', 'https://a.example/', 'https://shop.com./', 'https://shop..com/', 'https://%31.com/'],
    ...['https://\uff11\uff12\uff17.0.0.1/', `https://${'a'.repeat(64)}.com/`, `https://shop.com/${'a'.repeat(2032)}`],
  ])('%j', (url) => refused({ ...GOOD, url }, 'url'));

  it('with one message for a host, which tells nothing of this network', async () => {
    const messages = await Promise.all(
      ['https://10.0.0.1/', 'https://192.168.1.1/', 'https://127.0.0.1/'].map(
        async (url) => (await client.post({ ...GOOD, url })).body.message,
      ),
    );
    expect(new Set(messages).size).toBe(1);
  });
});
