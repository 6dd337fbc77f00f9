/** AUTH_JWKS_URL: tokens of another issuer. What is refused of a token is in test/accounts/issuer-tokens.test.ts. */
import { request } from '../support/clients/api-client.js';
import { eventually } from '../support/clocks/eventually.js';
import { CONTEXT } from '../support/generators/webhook-samples.js';
import { type RunningApi, startApi } from '../support/scenes/api-fixture.js';
import { type Issuer, newPairs, startIssuer } from '../support/servers/issuer.js';

const RULES = { AUTH_ISSUER: 'https://issuer', AUTH_AUDIENCE: 'webhooks', AUTH_ACCOUNT_CLAIM: 'account' };
const ROUTES = ['GET /api/webhooks', 'POST /api/webhooks', 'DELETE /api/webhooks/1', 'POST /api/webhooks/1/test'];
const PART = { part: 'issuer keys' };
const REFUSED =
  "the issuer's keys (AUTH_JWKS_URL) can't be fetched: nothing listens at an address of the issuer (ECONNREFUSED): see AUTH_JWKS_URL";

const pairs = newPairs();
let issuer: Issuer;
let api: RunningApi;

beforeEach(async () => {
  issuer = await startIssuer({ pairs });
  api = await opened();
});

afterEach(async () => {
  await api.close();
  await issuer.close();
});

async function opened(settings: Readonly<Record<string, string>> = {}): Promise<RunningApi> {
  const started = await startApi({ AUTH_JWKS_URL: issuer.jwksUrl, ...RULES, ...settings });
  await started.registration.register(42, CONTEXT);
  return started;
}

async function restart(settings: Readonly<Record<string, string>> = {}): Promise<void> {
  await api.close();
  api = await opened(settings);
}

let tokens = 0;
function tokenOf(claims: object = {}, kid = 'RS256'): Promise<string> {
  tokens += 1;
  const iat = Math.floor(Date.now() / 1000);
  const rules = { iss: 'https://issuer', aud: 'webhooks', sub: 'somebody', account: 42, jti: String(tokens) };
  return issuer.sign({ ...rules, iat, exp: iat + 600, ...claims }, { kid });
}

async function ask(token: string, route = 'GET /api/webhooks') {
  const [method = '', path = ''] = route.split(' ');
  const headers = { authorization: `Bearer ${token}` };
  const { status, headers: given, body } = await request(api.url, method, path, { headers });
  return { status, retryAfter: given.get('retry-after'), challenge: given.get('www-authenticate'), body };
}

describe('while the issuer is there', () => {
  it.each([42, '42'])('its tokens are taken, the account being %j', async (account) => {
    const body = { accountId: 42, webhooks: [], total: 0 };
    expect(await ask(await tokenOf({ account }))).toMatchObject({ status: 200, body });
  });

  it('a token from a clock that is ahead by less than AUTH_CLOCK_TOLERANCE is taken', async () => {
    const ahead = Math.floor(Date.now() / 1000) + 15;
    expect((await ask(await tokenOf({ iat: ahead, nbf: ahead }))).status).toBe(200);
    await restart({ AUTH_CLOCK_TOLERANCE: '0s' });
    expect((await ask(await tokenOf({ nbf: ahead }))).status).toBe(401);
  });

  it.each([7, '7', 0, -42])('an account that was never registered is 404: %j', async (account) => {
    const refused = { status: 404, challenge: null, body: { code: 'account-not-found' } };
    expect(await ask(await tokenOf({ account }))).toMatchObject(refused);
  });

  it.each([
    [{ exp: 1 }, 'the token has expired (exp)'],
    [{ account: '042' }, "the claim account must be an account's number, or its decimal string"],
  ])('a token of %j is 401 that says why', async (claims, why) => {
    expect(await ask(await tokenOf(claims))).toMatchObject({
      ...{ status: 401, challenge: 'Bearer realm="account-webhooks", error="invalid_token"' },
      body: { message: `the Bearer token is not valid: ${why}`, code: 'token-invalid' },
    });
  });

  it('there is no POST /oauth/token, and no metadata of it', async () => {
    for (const [
      method,
      path,
    ] of [['POST', '/oauth/token'], ['GET', '/.well-known/oauth-authorization-server']] as const) // biome-ignore format: one list
      expect(await request(api.url, method, path)).toMatchObject({ status: 404, body: { code: 'not-found' } });
  });
});

interface Ready {
  readonly status: number;
  readonly waitingFor: readonly string[];
  readonly part: { readonly ready: boolean; readonly needed: boolean; readonly why?: string } | undefined;
}

async function ready(): Promise<Ready> {
  const response = await fetch(`${api.adminUrl}/health/ready`);
  const { waitingFor = [], parts } = (await response.json()) as {
    waitingFor?: string[];
    parts: (Ready['part'] & { part: string })[];
  };
  return { status: response.status, waitingFor, part: parts.find(({ part }) => part === 'issuer keys') };
}

const isReady = async () => (await ready()).part?.ready === true;
const NOT_NOW = {
  status: 503,
  retryAfter: expect.stringMatching(/^([1-9]|10)$/),
  challenge: null,
  body: { code: 'keys-unavailable' },
};

describe('an issuer that', () => {
  it('goes away: tokens of keys in hand are taken, of others 503 with Retry-After; ready, and it says so', async () => {
    await eventually(isReady);
    const [before, during] = [await tokenOf(), await tokenOf()];
    expect((await ask(before)).status).toBe(200);
    expect(await ready()).toEqual({ status: 200, waitingFor: [], part: { ...PART, ready: true, needed: false } });
    await issuer.close();
    for (const route of ROUTES) expect(await ask(await tokenOf({}, 'unknown'), route)).toMatchObject(NOT_NOW);
    for (const token of [before, during]) expect((await ask(token)).status).toBe(200);
    const part = { ...PART, ready: false, needed: false, why: REFUSED };
    expect(await ready()).toEqual({ status: 200, waitingFor: [], part });
    issuer = await startIssuer(issuer.place);
    await eventually(isReady);
    expect((await ask(await tokenOf({}, 'unknown'))).status).toBe(401);
  });

  it('is away from the start: 503 with Retry-After, never 401; not ready; and then its tokens are taken', async () => {
    await issuer.close();
    await restart();
    await eventually(async () => (await ready()).part?.why === REFUSED);
    expect(await ready()).toMatchObject({ status: 503, waitingFor: ['issuer keys'], part: { needed: true } });
    for (const route of ROUTES) expect(await ask(await tokenOf(), route)).toMatchObject(NOT_NOW);
    expect((await ask('nonsense')).status).toBe(401);
    issuer = await startIssuer(issuer.place);
    await eventually(isReady);
    expect((await ask(await tokenOf())).status).toBe(200);
    expect((await ready()).status).toBe(200);
  });

  it('hangs from the start: the service starts, and stops, without waiting for it', async () => {
    issuer.answerWith('silence');
    const before = issuer.asked();
    await restart();
    await eventually(() => issuer.asked() > before);
    expect(await ready()).toMatchObject({ status: 503, waitingFor: ['issuer keys'] });
  });
});
