import { type BareApi, startBareApi } from '../support/scenes/bare-api.js';

let api: BareApi;

beforeAll(async () => {
  const checkEndpoint = (url: string) =>
    url.startsWith('https:')
      ? ({ ok: true, href: url } as const)
      : ({ ok: false, problem: { code: 'url-invalid' } } as const);
  api = await startBareApi({ parts: { checkEndpoint } });
  for (const path of [1, 2, 3]) expect(await post({ body: body({ url: `https://shop.com/${path}` }) })).toBe(200);
});

afterAll(() => api.close());

const TOO_BIG = 'x'.repeat(65_537);
const body = (changes: object = {}) => JSON.stringify({ url: 'https://shop.com/4', eventType: 'cash_in', ...changes });

/** Everything good but for what is given: account 42 has three active webhooks, account 7 was never registered. */
async function post(given: { caller?: string; type?: string; body?: string }): Promise<number> {
  const authorization = `Bearer ${given.caller ?? 'caller-42'}`;
  const headers = { authorization, 'content-type': given.type ?? 'application/json' };
  const response = await fetch(`${api.url}/api/webhooks`, { method: 'POST', headers, body: given.body ?? body() });
  const answer = (await response.json()) as { success: boolean; message: string };
  expect(answer.success).toBe(response.status === 200);
  expect(answer.message.length).toBeGreaterThan(3);
  return response.status;
}

describe('of several things that are wrong the first of 401, 415, 413, 400, 404, 400 (limit) is the answer', () => {
  const noToken = { caller: 'nobody' };
  const unknown = { caller: 'caller-7' };
  const text = { type: 'text/plain' };
  const tooBig = { body: TOO_BIG };
  const notJson = { body: '{' };
  const badField = { body: body({ eventType: 'nothing' }) };
  const badUrl = { body: body({ url: 'http://shop.com/' }) };
  it.each([
    [401, 'all of it', { ...noToken, ...text, ...tooBig }],
    [401, 'token and body', { ...noToken, ...notJson }],
    [401, 'token and field', { ...noToken, ...badField }],
    [415, 'media type, size, account', { ...unknown, ...text, ...tooBig }],
    [415, 'media type and body', { ...text, ...notJson }],
    [415, 'media type and account', { ...unknown, ...text }],
    [413, 'size (and JSON) and account', { ...unknown, ...tooBig }],
    [413, 'size and JSON', tooBig],
    [400, 'JSON and account', { ...unknown, ...notJson }],
    [400, 'field and account', { ...unknown, ...badField }],
    [400, 'URL and account', { ...unknown, ...badUrl }],
    [404, 'account', unknown],
    [400, 'limit', {}],
  ])('%i: %s', async (status, _, given) => {
    expect(await post(given)).toBe(status);
  });
});

describe('PATCH has the same order, and an id nobody has is 404 where an account nobody registered is', () => {
  const on = '{"isActive":true}';
  const patch = async (id: number | string, given: { caller?: string; type?: string; body?: string }) => {
    const authorization = `Bearer ${given.caller ?? 'caller-42'}`;
    const headers = { authorization, 'content-type': given.type ?? 'application/json' };
    const init = { method: 'PATCH', headers, body: given.body ?? on };
    return (await fetch(`${api.url}/api/webhooks/${id}`, init)).status;
  };
  it.each([
    [401, 'all of it', 'x', { caller: 'nobody', type: 'text/plain', body: TOO_BIG }],
    [415, 'media type, size, account, id', 'x', { caller: 'caller-7', type: 'text/plain', body: TOO_BIG }],
    [413, 'size (and JSON), account, id', 'x', { caller: 'caller-7', body: TOO_BIG }],
    [400, 'JSON, account, id', 'x', { caller: 'caller-7', body: '{' }],
    [400, 'field, account, id', 'x', { caller: 'caller-7', body: '{"isActive":"true"}' }],
    [404, 'account and id', 'x', { caller: 'caller-7' }],
    [404, 'account', 1, { caller: 'caller-7' }],
    [404, 'id', 999, {}],
  ])('%i: %s', async (status, _, id, given) => {
    expect(await patch(id, given)).toBe(status);
  });
});

describe('routes', () => {
  const send = (method: string, path: string) =>
    fetch(api.url + path, { method, headers: { authorization: 'Bearer caller-42' } });

  it.each([
    ...['/', '/api', '/api/webhook', '/api/webhooksx', '/API/webhooks', '/api/Webhooks', '/api/webhooks/1/x/y'],
    ...[
      '/api//webhooks',
      '//api/webhooks',
      '/api/webhooks%2f',
      '/%ff',
      '/api/%',
      '/oauth/token',
      '/.env',
      '/constructor',
    ],
  ])('%s is 404: nothing is there', async (path) => {
    const response = await send('GET', path);
    expect({ status: response.status, body: await response.json() }).toMatchObject({
      status: 404,
      body: { success: false, message: expect.any(String), code: expect.any(String) },
    });
  });

  it.each(['PUT', 'DELETE', 'PATCH', 'OPTIONS'])(
    '%s /api/webhooks is 405 with the methods there are',
    async (method) => {
      const response = await send(method, '/api/webhooks');
      expect(response.status).toBe(405);
      const allowed = (response.headers.get('allow') ?? '').split(', ');
      expect(allowed).toEqual(expect.arrayContaining(['GET', 'POST']));
      expect(allowed).not.toContain(method);
      expect(await response.json()).toMatchObject({
        success: false,
        message: expect.any(String),
        code: expect.any(String),
      });
    },
  );

  it('a query changes nothing', async () => {
    expect((await send('GET', '/api/webhooks?limit=0&eventType=x&%zz=%')).status).toBe(200);
  });

  it('HEAD is GET without its body', async () => {
    const response = await send('HEAD', '/api/webhooks');
    expect(response.status).toBe(200);
    expect(await response.text()).toBe('');
  });

  it('a request keeps its X-Request-Id where that is a sound one, else it gets one', async () => {
    const asked = async (id: string) => {
      const response = await fetch(`${api.url}/nowhere`, { headers: { 'x-request-id': id } });
      return response.headers.get('x-request-id');
    };
    expect(await asked('a-1:b.c_D')).toBe('a-1:b.c_D');
    for (const id of ['', 'a b', '<script>', 'x'.repeat(129)]) expect(await asked(id)).toMatch(/^[0-9a-f-]{36}$/);
  });
});
