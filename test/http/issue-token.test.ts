import type { IssuedCredential } from '../../src/accounts/registration.js';
import { head, rawRequest } from '../support/clients/raw-request.js';
import { eventually } from '../support/eventually.js';
import { CONTEXT } from '../support/generators/webhook-samples.js';
import { type RunningApi, startApi } from '../support/scenes/api-fixture.js';

const FORM = 'application/x-www-form-urlencoded';
const GRANT = 'grant_type=client_credentials';

let api: RunningApi;
let account: IssuedCredential;
let other: IssuedCredential;

beforeAll(async () => {
  api = await startApi({ TOKEN_LIFETIME: '90s' });
  account = await api.registration.register(42, CONTEXT);
  other = await api.registration.register(43, CONTEXT);
});

afterAll(() => api.close());

interface TokenAnswer {
  readonly status: number;
  readonly challenge: string | null;
  readonly cache: string | null;
  readonly body: Readonly<Record<string, unknown>>;
}

async function ask(body: string | Buffer, headers: Readonly<Record<string, string>> = {}): Promise<TokenAnswer> {
  const all = { 'content-type': FORM, ...headers };
  const response = await fetch(`${api.url}/oauth/token`, { method: 'POST', headers: all, body });
  const [challenge, cache] = ['www-authenticate', 'cache-control'].map((name) => response.headers.get(name));
  const answer = (await response.json()) as Readonly<Record<string, unknown>>;
  return { status: response.status, challenge: challenge ?? null, cache: cache ?? null, body: answer };
}

const basic = (id: string, secret: string, scheme = 'Basic') => ({
  authorization: `${scheme} ${Buffer.from(`${id}:${secret}`).toString('base64')}`,
});
const inBody = (id: string, secret: string) => `${GRANT}&client_id=${id}&client_secret=${secret}`;
const good = () => basic(account.clientId, account.clientSecret);

function expectError(answer: TokenAnswer, status: number, error: string, challenge: boolean): void {
  const body = { error, error_description: expect.any(String) };
  expect({ status: answer.status, body: answer.body }).toEqual({ status, body });
  expect(answer.challenge).toBe(challenge ? 'Basic realm="account-webhooks"' : null);
  expect(answer.cache).toBe('no-store');
}

describe('a token', () => {
  const expectToken = async ({ status, cache, body }: TokenAnswer) => {
    expect({ status, cache }).toEqual({ status: 200, cache: 'no-store' });
    expect(body).toEqual({ access_token: expect.any(String), token_type: 'Bearer', expires_in: 90, scope: 'webhooks' });
    const headers = { authorization: `Bearer ${body.access_token}` };
    const listed = await fetch(`${api.url}/api/webhooks`, { headers });
    expect(await listed.json()).toEqual({ accountId: 42, webhooks: [], total: 0 });
  };

  it('is issued for Basic credentials, the scheme in any case', async () => {
    for (const scheme of ['Basic', 'basic', 'BASIC', 'Basic ']) {
      await expectToken(await ask(GRANT, basic(account.clientId, account.clientSecret, scheme)));
    }
  });

  it('is issued for credentials in the body', async () => {
    await expectToken(await ask(inBody(account.clientId, account.clientSecret)));
  });

  it('is issued where the client id stands in the body too, which RFC 6749 3.2.1 allows', async () => {
    await expectToken(await ask(`${GRANT}&client_id=${account.clientId}`, good()));
  });

  it('is issued for credentials that were percent-encoded, as RFC 6749 2.3.1 wants it', async () => {
    const encoded = (text: string) => text.replace(/[_-]/g, (character) => `%${character.charCodeAt(0).toString(16)}`);
    await expectToken(await ask(GRANT, basic(encoded(account.clientId), encoded(account.clientSecret))));
    await expectToken(await ask(inBody(encoded(account.clientId), encoded(account.clientSecret))));
  });

  it('is issued with parameters nobody knows, and a media type of another case with parameters', async () => {
    await expectToken(await ask(`${GRANT}&resource=all&audience=x`, good()));
    await expectToken(await ask(GRANT, { ...good(), 'content-type': `${FORM.toUpperCase()}; charset=UTF-8` }));
  });

  it('is issued where a parameter has no value, which counts as omitted (RFC 6749 3.2)', async () => {
    await expectToken(await ask(`${GRANT}&client_id=&client_secret=`, good()));
    await expectToken(await ask(`${GRANT}&client_secret&scope=&scope=&grant_type=&x&x`, good()));
    await expectToken(await ask(`client_secret=&${inBody(account.clientId, account.clientSecret)}&client_id=`));
  });

  it('is issued for any number of resources (RFC 8707)', async () => {
    await expectToken(await ask(`${GRANT}&resource=https%3A%2F%2Fa.example&resource=https%3A%2F%2Fb.example`, good()));
  });

  it('is issued for each credential of an account', async () => {
    const second = await api.registration.issueCredential(42, CONTEXT);
    await expectToken(await ask(GRANT, basic(second.clientId, second.clientSecret)));
    await expectToken(await ask(GRANT, good()));
  });
});

test.each(['webhooks', 'all', 'a  b', 'payment-events:publish'])(
  'the scope of an account is issued, for %j',
  async (scope) => {
    const { status, body } = await ask(`${GRANT}&scope=${encodeURIComponent(scope)}`, good());
    expect({ status, scope: body.scope }).toEqual({ status: 200, scope: 'webhooks' });
  },
);

describe('invalid_client, 401', () => {
  const wrong: [string, () => [id: string, secret: string]][] = [
    ['a wrong secret', () => [account.clientId, other.clientSecret]],
    ['a secret cut short', () => [account.clientId, account.clientSecret.slice(0, -1)]],
    ['a secret and more', () => [account.clientId, `${account.clientSecret}x`]],
    ['no secret', () => [account.clientId, '']],
    ['the id for the secret', () => [account.clientId, account.clientId]],
    ['another account’s id', () => [other.clientId, account.clientSecret]],
    ['an id nobody has', () => ['acct_42_0123456789abcdef', account.clientSecret]],
    ['an id of an account nobody has', () => ['acct_99_0123456789abcdef', account.clientSecret]],
    ['an id that is none', () => ['__proto__', account.clientSecret]],
    ['no id', () => ['', account.clientSecret]],
  ];

  it.each(wrong)('%s, with a challenge to Basic and none to the body', async (_, credentials) => {
    const [id, secret] = credentials();
    expectError(await ask(GRANT, basic(id, secret)), 401, 'invalid_client', true);
    expectError(await ask(inBody(id, secret)), 401, 'invalid_client', false);
  });

  it('no credentials at all, or only empty ones', async () => {
    expectError(await ask(GRANT), 401, 'invalid_client', true);
    expectError(await ask(inBody('', '')), 401, 'invalid_client', true);
  });

  it.each(['Basic', 'Basic !!!', 'Basic Og==', 'Bearer abc', 'Digest a="b"', 'Basic a b', '='])(
    'Authorization: %s',
    async (authorization) => {
      expectError(await ask(GRANT, { authorization }), 401, 'invalid_client', true);
    },
  );

  it('a credential that was revoked', async () => {
    const revoked = await api.registration.issueCredential(43, CONTEXT);
    expect((await ask(inBody(revoked.clientId, revoked.clientSecret))).status).toBe(200);
    await api.registration.revokeCredential(revoked.clientId, CONTEXT);
    const refused = await eventually(async () => {
      const answer = await ask(inBody(revoked.clientId, revoked.clientSecret));
      return answer.status !== 200 && answer;
    });
    expectError(refused, 401, 'invalid_client', false);
    expect((await ask(inBody(other.clientId, other.clientSecret))).status).toBe(200);
  });
});

describe('400', () => {
  it.each(['', 'grant_type=', 'grant_type', 'grant=client_credentials', 'Grant_Type=client_credentials'])(
    'invalid_request: no grant_type in %j',
    async (body) => expectError(await ask(body, good()), 400, 'invalid_request', false),
  );

  it.each(['password', 'refresh_token', 'authorization_code', 'Client_Credentials', 'client_credentials%20'])(
    'unsupported_grant_type: %s',
    async (grant) => expectError(await ask(`grant_type=${grant}`, good()), 400, 'unsupported_grant_type', false),
  );

  it('invalid_request: a parameter that stands twice', async () => {
    expectError(await ask(`${GRANT}&${GRANT}`, good()), 400, 'invalid_request', false);
    const twice = `${inBody(account.clientId, account.clientSecret)}&client_id=${account.clientId}`;
    expectError(await ask(twice), 400, 'invalid_request', false);
    for (const pair of ['scope=a&scope=b', 'audience=a&audience=b', 'x=1&resource=a&x=1&resource=a']) {
      expectError(await ask(`${GRANT}&${pair}`, good()), 400, 'invalid_request', false);
    }
  });

  it('invalid_request: both ways of client authentication', async () => {
    const both = inBody(account.clientId, account.clientSecret);
    expectError(await ask(both, good()), 400, 'invalid_request', false);
  });

  it.each(['application/json', 'text/plain', 'multipart/form-data; boundary=x', ''])(
    'invalid_request: a body of the media type %j is no form',
    async (type) => expectError(await ask(GRANT, { ...good(), 'content-type': type }), 400, 'invalid_request', false),
  );

  it('invalid_request: a JSON body and parameters in the query', async () => {
    const json = JSON.stringify({ grant_type: 'client_credentials' });
    expectError(await ask(json, { ...good(), 'content-type': 'application/json' }), 400, 'invalid_request', false);
    const response = await fetch(`${api.url}/oauth/token?${GRANT}`, { method: 'POST', headers: good() });
    expect(response.status).toBe(400);
  });
});

describe('a form that is not read to its end is an invalid_request too', () => {
  it('of a length over 64 KiB that was announced and does not come: 413', async () => {
    const lines = [`Content-Type: ${FORM}`, 'Content-Length: 65537'];
    const { status, headers, body } = await rawRequest(api.port, head('POST /oauth/token HTTP/1.1', ...lines));
    expect({ status, cache: headers.get('cache-control') }).toEqual({ status: 413, cache: 'no-store' });
    expect(JSON.parse(body)).toEqual({ error: 'invalid_request', error_description: expect.any(String) });
  });
});

it('a form of strange bytes is no more than wrong', async () => {
  expect((await ask(Buffer.of(0xff, 0xfe, 0x3d, 0x25, 0x00), good())).status).toBe(400);
  expect((await ask('%zz=%&%%%', good())).status).toBe(400);
  expect((await ask(`__proto__=1&constructor=2&${GRANT}`, good())).status).toBe(200);
});

it('another method is 405 with Allow: POST', async () => {
  const response = await fetch(`${api.url}/oauth/token?${GRANT}`, { headers: good() });
  expect({ status: response.status, allow: response.headers.get('allow') }).toEqual({ status: 405, allow: 'POST' });
});

it('no answer holds a secret', async () => {
  const answers = [
    await ask(inBody(account.clientId, 'planted-secret')),
    await ask(GRANT, basic('x', 'planted-secret')),
  ];
  for (const { body } of answers) expect(JSON.stringify(body)).not.toContain('planted-secret');
});
