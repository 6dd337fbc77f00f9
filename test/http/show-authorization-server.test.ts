import { rawRequest } from '../support/clients/raw-request.js';
import { type RunningApi, startApi, tokenFor } from '../support/scenes/api-fixture.js';

const PATH = '/.well-known/oauth-authorization-server';

const metadata = (issuer: string) => ({
  issuer,
  token_endpoint: `${issuer}/oauth/token`,
  token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
  grant_types_supported: ['client_credentials'],
  response_types_supported: [],
  scopes_supported: ['webhooks', 'payment-events:publish'],
});

async function asked({ port }: RunningApi, ...lines: string[]) {
  const { status, body } = await rawRequest(port, [`GET ${PATH} HTTP/1.1`, ...lines, '', ''].join('\r\n'));
  return { status, body: JSON.parse(body) };
}

describe('without PUBLIC_URL', () => {
  let api: RunningApi;

  beforeAll(async () => {
    api = await startApi();
  });

  afterAll(() => api.close());

  it('is where the client asks, needs no token, and leads to where one is issued', async () => {
    const account = await api.account(42);
    const shown = (await account.send<ReturnType<typeof metadata>>('GET', PATH, { headers: { authorization: '' } }))
      .body;
    expect(shown).toEqual(metadata(api.url));
    expect(await tokenFor(shown.issuer, account.credential)).toEqual(expect.any(String));
  });

  it.each(['webhooks.example.com', 'webhooks.example.com:8443', 'account_webhooks:80', '10.0.0.1', '[::1]:8080'])(
    'takes the Host %s, and nothing that a proxy says',
    async (host) => {
      const answer = await asked(api, `Host: ${host}`, 'X-Forwarded-Host: evil', 'X-Forwarded-Proto: https');
      expect(answer).toEqual({ status: 200, body: metadata(`http://${host}`) });
    },
  );

  it.each([
    ...['a b', 'a/b', 'a?b', 'a#b', 'user@host', 'a"b', '<script>', 'a\\b', 'a,b', 'a:b', 'a:65536', '::1', '[::1'],
    ...['[x]', '', ':80', '%31', 'é', '256.1.1.1', 'a'.repeat(254)],
  ])('repeats no Host that is none: %j', async (host) => {
    const errors = [{ field: 'Host', code: 'malformed' }];
    expect(await asked(api, `Host: ${host}`)).toMatchObject({ status: 400, body: { code: 'invalid-fields', errors } });
  });
});

it('with PUBLIC_URL is there, whatever the Host', async () => {
  const api = await startApi({ PUBLIC_URL: 'https://example.com/webhooks/' });
  try {
    expect((await asked(api, 'Host: evil.example')).body).toEqual(metadata('https://example.com/webhooks'));
  } finally {
    await api.close();
  }
});
