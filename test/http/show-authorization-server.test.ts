import { head, rawRequest } from '../support/clients/raw-request.js';
import { type RunningApi, startApi } from '../support/scenes/api-fixture.js';

const PATH = '/.well-known/oauth-authorization-server';

const metadata = (issuer: string) => ({
  issuer,
  token_endpoint: `${issuer}/oauth/token`,
  token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
  grant_types_supported: ['client_credentials'],
  response_types_supported: [],
  scopes_supported: ['webhooks', 'payment-events:publish'],
});

describe('without PUBLIC_URL', () => {
  let api: RunningApi;

  beforeAll(async () => {
    api = await startApi();
  });

  afterAll(() => api.close());

  const asked = (...lines: string[]) =>
    rawRequest(api.port, `GET ${PATH} HTTP/1.1\r\n${[...lines, ...END].join('\r\n')}`);
  const END = ['Connection: close', '', ''];

  it('is where the client asks, needs no token, and is not kept', async () => {
    const response = await fetch(api.url + PATH);
    const { status, headers } = response;
    const named = ['content-type', 'cache-control'].map((name) => headers.get(name));
    expect({ status, named }).toEqual({ status: 200, named: ['application/json; charset=utf-8', 'no-store'] });
    expect(await response.json()).toEqual(metadata(api.url));
  });

  it('leads to where a token is issued', async () => {
    const account = await api.account(42);
    const { token_endpoint: endpoint } = (await (await fetch(api.url + PATH)).json()) as { token_endpoint: string };
    const { clientId: client_id, clientSecret: client_secret } = account.credential;
    const body = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret });
    expect((await fetch(endpoint, { method: 'POST', body })).status).toBe(200);
  });

  it.each(['webhooks.example.com', 'webhooks.example.com:8443', 'account_webhooks:80', '10.0.0.1', '[::1]:8080'])(
    'takes the Host %s',
    async (host) => {
      const { status, body } = await asked(`Host: ${host}`, 'X-Forwarded-Host: evil', 'X-Forwarded-Proto: https');
      expect({ status, body: JSON.parse(body) }).toEqual({ status: 200, body: metadata(`http://${host}`) });
    },
  );

  it.each([
    ...['a b', 'a/b', 'a?b', 'a#b', 'user@host', 'a"b', '<script>', 'a\\b', 'a,b', 'a:b', 'a:123456', 'a:65536', '::1'],
    ...['[::1', '[x]', '', ':80', '%31', 'é', '256.1.1.1', 'a'.repeat(254)],
  ])('repeats no Host that is none: %j', async (host) => {
    const { status, body } = await asked(`Host: ${host}`);
    const message = 'Host must be the host of the service, with its port.';
    const errors = [{ field: 'Host', message, code: 'malformed' }];
    expect({ status, body: JSON.parse(body) }).toEqual({
      status: 400,
      body: { success: false, message, code: 'invalid-fields', errors },
    });
  });

  it('needs a Host', async () => {
    expect((await asked()).status).toBe(400);
  });

  it('takes no other method: 405 with Allow', async () => {
    const response = await fetch(api.url + PATH, { method: 'POST' });
    expect({ status: response.status, allow: response.headers.get('allow') }).toEqual({
      status: 405,
      allow: expect.stringContaining('GET'),
    });
  });
});

it('with PUBLIC_URL is there, whatever the Host', async () => {
  const api = await startApi({ PUBLIC_URL: 'https://example.com/webhooks/' });
  try {
    const { body } = await rawRequest(api.port, head(`GET ${PATH} HTTP/1.1`, 'Host: evil.example'));
    expect(JSON.parse(body)).toEqual(metadata('https://example.com/webhooks'));
  } finally {
    await api.close();
  }
});
