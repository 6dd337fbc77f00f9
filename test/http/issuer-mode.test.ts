import { CONTEXT } from '../support/generators/webhook-samples.js';
import { type RunningApi, startApi } from '../support/scenes/api-fixture.js';
import { type Issuer, startIssuer } from '../support/servers/issuer.js';

const SETTINGS = { AUTH_ISSUER: 'https://issuer', AUTH_AUDIENCE: 'webhooks', AUTH_ACCOUNT_CLAIM: 'account' };

let issuer: Issuer;
let api: RunningApi;

beforeAll(async () => {
  issuer = await startIssuer();
  api = await startApi({ AUTH_JWKS_URL: issuer.jwksUrl, ...SETTINGS });
  await api.registration.register(42, CONTEXT);
});

afterAll(async () => {
  await api.close();
  await issuer.close();
});

const invalid = (why: string) => `Bearer realm="account-webhooks", error="invalid_token", error_description="${why}"`;

async function get(
  claims: object,
  { url } = api,
): Promise<{ status: number; challenge: string | null; body: unknown }> {
  const seconds = Math.floor(Date.now() / 1000);
  const times = { iat: seconds, exp: seconds + 60 };
  const token = await issuer.sign({ iss: 'https://issuer', aud: 'webhooks', sub: 'somebody', ...times, ...claims });
  const response = await fetch(`${url}/api/webhooks`, { headers: { authorization: `Bearer ${token}` } });
  return {
    status: response.status,
    challenge: response.headers.get('www-authenticate'),
    body: await response.json(),
  };
}

it.each([42, '42'])('with AUTH_JWKS_URL the issuer’s tokens are taken, the account being %j', async (account) => {
  expect(await get({ account })).toMatchObject({ status: 200, body: { accountId: 42, webhooks: [], total: 0 } });
});

it('a token of an issuer whose clock is ahead by less than AUTH_CLOCK_TOLERANCE is taken', async () => {
  const ahead = Math.floor(Date.now() / 1000) + 15;
  expect(await get({ account: 42, iat: ahead, nbf: ahead })).toMatchObject({ status: 200 });
  const strict = await startApi({ AUTH_JWKS_URL: issuer.jwksUrl, ...SETTINGS, AUTH_CLOCK_TOLERANCE: '0s' });
  try {
    await strict.registration.register(42, CONTEXT);
    expect(await get({ account: 42, nbf: ahead }, strict)).toMatchObject({ status: 401 });
  } finally {
    await strict.close();
  }
});

it.each([7, '7', 0, -42])('an account that was never registered is 404: %j', async (account) => {
  expect(await get({ account })).toEqual({
    status: 404,
    challenge: null,
    body: { success: false, message: 'account not found', code: 'account-not-found' },
  });
});

it.each(['042', 'x', 42.5, null, [42]])('a claim that is no integer is 401: %j', async (account) => {
  const { status, challenge } = await get({ account });
  expect({ status, challenge }).toEqual({
    status: 401,
    challenge: invalid("the claim account must be an account's number, or its decimal string"),
  });
});

it.each<[string, object, why: string]>([
  ['expired', { exp: 1 }, 'the token has expired (exp)'],
  ['for another audience', { aud: 'planted' }, 'the audience (aud) is not webhooks'],
  ['without iat', { iat: undefined }, 'the claim iat is missing'],
  ['without exp', { exp: undefined }, 'the claim exp is missing'],
  ['without its account', {}, 'the claim account is missing'],
])('a token that is %s is 401 that says so', async (_, claims, why) => {
  const answer = await get({ ...(why.includes('account') ? {} : { account: 42 }), ...claims });
  expect(answer).toEqual({
    status: 401,
    challenge: invalid(why),
    body: { success: false, message: `the Bearer token is not valid: ${why}`, code: 'token-invalid' },
  });
});

it('settings of strange characters break no header', async () => {
  const strange = { AUTH_AUDIENCE: 'a"b\\c\r\nX: y é', AUTH_ISSUER: 'https://issuer' };
  const other = await startApi({ AUTH_JWKS_URL: issuer.jwksUrl, ...strange });
  try {
    const { status, challenge } = await get({ account: 42 }, other);
    expect({ status, challenge }).toEqual({
      status: 401,
      challenge: invalid('the audience (aud) is not a?b?c??X: y ?'),
    });
  } finally {
    await other.close();
  }
});

it('there is no POST /oauth/token then, and no metadata of it', async () => {
  const init = { method: 'POST', body: new URLSearchParams({ grant_type: 'client_credentials' }) };
  for (const asked of [
    fetch(`${api.url}/oauth/token`, init),
    fetch(`${api.url}/.well-known/oauth-authorization-server`),
  ]) {
    const response = await asked;
    const body = await response.json();
    expect({ status: response.status, body }).toEqual({
      status: 404,
      body: { success: false, message: 'not found', code: 'not-found' },
    });
  }
});
