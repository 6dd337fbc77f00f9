import { request } from '../support/clients/api-client.js';
import { type BareApi, startBareApi } from '../support/scenes/bare-api.js';

let api: BareApi;

beforeAll(async () => {
  const checkEndpoint = (url: string) =>
    url.startsWith('https:')
      ? ({ ok: true, href: url } as const)
      : ({ ok: false, problem: { code: 'url-invalid' } } as const);
  api = await startBareApi({ parts: { checkEndpoint } });
  for (const n of [1, 2, 3]) expect(await ask('POST', '', { bytes: body({ url: `https://shop.com/${n}` }) })).toBe(200);
});

afterAll(() => api.close());

const TOO_BIG = 'x'.repeat(65_537);
const body = (changes: object = {}) => JSON.stringify({ url: 'https://shop.com/4', eventType: 'cash_in', ...changes });

interface Given {
  readonly caller?: string;
  readonly type?: string;
  readonly bytes?: string;
}

/** Everything good but for what is given: account 42 has three active webhooks, account 7 was never registered. */
async function ask(method: string, to: string, { caller = 'caller-42', type, bytes = body() }: Given) {
  const headers = { authorization: `Bearer ${caller}`, 'content-type': type ?? 'application/json' };
  return (await request(api.url, method, `/api/webhooks${to}`, { headers, bytes })).status;
}

const noToken = { caller: 'nobody' };
const unknown = { caller: 'caller-7' };
const text = { type: 'text/plain' };
const tooBig = { bytes: TOO_BIG };

describe('of several things that are wrong the first of 401, 415, 413, 400, 404, 400 (limit) is the answer', () => {
  it.each<[number, string, Given]>([
    [401, 'all of it', { ...noToken, ...text, ...tooBig }],
    [401, 'token and field', { ...noToken, bytes: body({ eventType: 'nothing' }) }],
    [415, 'media type, size, account', { ...unknown, ...text, ...tooBig }],
    [415, 'media type and body', { ...text, bytes: '{' }],
    [413, 'size (and JSON) and account', { ...unknown, ...tooBig }],
    [400, 'JSON and account', { ...unknown, bytes: '{' }],
    [400, 'field and account', { ...unknown, bytes: body({ eventType: 'nothing' }) }],
    [400, 'URL and account', { ...unknown, bytes: body({ url: 'http://shop.com/' }) }],
    [404, 'account', unknown],
    [400, 'limit', {}],
  ])('%i: %s', async (status, _, given) => {
    expect(await ask('POST', '', given)).toBe(status);
  });
});

it.each(['', '/', '/move', '/move/'])(
  'POST /api/webhooks%s is known with a slash behind it as without',
  async (path) => {
    expect(await ask('POST', path, { bytes: '{' })).toBe(400);
  },
);

describe('PATCH has the same order, and an id nobody has is 404 where an account nobody registered is', () => {
  it.each<[number, string, string, Given]>([
    [401, 'all of it', 'x', { ...noToken, ...text, ...tooBig }],
    [415, 'media type, size, account, id', 'x', { ...unknown, ...text, ...tooBig }],
    [413, 'size (and JSON), account, id', 'x', { ...unknown, ...tooBig }],
    [400, 'field, account, id', 'x', { ...unknown, bytes: '{"isActive":"true"}' }],
    [404, 'account', '1', { ...unknown, bytes: '{"isActive":true}' }],
    [404, 'id', '999', { bytes: '{"isActive":true}' }],
  ])('%i: %s', async (status, _, id, given) => {
    expect(await ask('PATCH', `/${id}`, given)).toBe(status);
  });
});

describe('routes', () => {
  const send = (method: string, path: string) => api.client().send(method, path);

  it.each([
    ...['/api', '/api/webhooksx', '/API/webhooks', '/api/Webhooks', '/api/webhooks/1/x/y', '/api//webhooks'],
    ...['//api/webhooks', '/api/webhooks%2f', '/%ff', '/api/%', '/oauth/token', '/.env', '/constructor'],
  ])('%s is 404: nothing is there', async (path) => {
    expect(await send('GET', path)).toMatchObject({ status: 404, body: { code: 'not-found' } });
  });

  it.each([
    ['/api/webhooks', ['GET', 'HEAD', 'POST']],
    ['/api/webhooks/1', ['DELETE', 'GET', 'HEAD', 'PATCH']],
    ['/api/webhooks/health', ['GET', 'HEAD']],
  ])('%s is 405 with the methods there are for others', async (path, methods) => {
    for (const method of ['PUT', 'OPTIONS']) {
      const { status, headers, body: answer } = await send(method, path);
      expect([status, headers.get('allow')?.split(', ').sort()]).toEqual([405, methods]);
      expect(answer).toMatchObject({ code: 'method-not-allowed' });
    }
  });

  it('a query that an operation does not know changes nothing', async () => {
    expect((await send('GET', '/api/webhooks?limit=0&eventType=x&%zz=%')).status).toBe(200);
  });

  it('HEAD is GET without its body', async () => {
    expect(await send('HEAD', '/api/webhooks')).toMatchObject({ status: 200, body: null });
  });

  it('a request keeps its X-Request-Id where that is a sound one, else it gets one', async () => {
    const asked = async (id: string) => {
      const { headers } = await request(api.url, 'GET', '/nowhere', { headers: { 'x-request-id': id } });
      return headers.get('x-request-id');
    };
    expect(await asked('a-1:b.c_D')).toBe('a-1:b.c_D');
    for (const id of ['', 'a b', '<script>', 'x'.repeat(129)]) expect(await asked(id)).toMatch(/^[0-9a-f-]{36}$/);
  });
});
