import { Client } from '../support/clients/api-client.js';
import { head, rawRequest } from '../support/clients/raw-request.js';
import { eventually } from '../support/clocks/eventually.js';
import { CONTEXT } from '../support/generators/webhook-samples.js';
import { type RunningApi, startApi, tokenFor } from '../support/scenes/api-fixture.js';

const BARE = 'Bearer realm="account-webhooks"';
const INVALID = `${BARE}, error="invalid_token"`;
const NO_TOKEN = 'there must be exactly one Authorization header, with Bearer and one token';
const NO_JWT = 'the token is not a JWT';

let api: RunningApi;
let client: Client;

beforeAll(async () => {
  api = await startApi();
  client = await api.account(42);
});

afterAll(() => api.close());

/** GET of the list. In a line <T> stands for the account's good token, <H.P> for its first two parts. */
async function ask(lines: readonly string[], query = '') {
  const unsigned = client.token.slice(0, client.token.lastIndexOf('.'));
  const given = lines.map((line) => line.replaceAll('<T>', client.token).replace('<H.P>', unsigned));
  const { status, headers, body } = await rawRequest(api.port, head(`GET /api/webhooks${query} HTTP/1.1`, ...given));
  return { status, challenge: headers.get('www-authenticate'), body: JSON.parse(body) };
}

it.each<[string, ...string[]]>([
  ['no header'],
  ['the token in a header of another name', 'X-Authorization: Bearer <T>', 'Proxy-Authorization: Bearer <T>'],
  ['the token in a cookie', 'Cookie: access_token=<T>'],
])('asks for a token where no credentials came: %s, nor in the query', async (_, ...lines) => {
  const refused = { status: 401, challenge: BARE, body: { success: false, code: 'token-missing' } };
  expect(await ask(lines)).toMatchObject(refused);
  expect(await ask(lines, `?access_token=${client.token}`)).toMatchObject(refused);
});

it.each<[string, ...string[]]>([
  ['no token', 'Authorization: Bearer'],
  ['no scheme', 'Authorization: <T>'],
  ['another scheme', 'Authorization: Basic <T>'],
  ['a scheme that only begins so', 'Authorization: BearerX <T>'],
  ['no space', 'Authorization: Bearer:<T>'],
  ['two tokens with a comma', 'Authorization: Bearer <T>, Bearer <T>'],
  ['quotes', 'Authorization: Bearer "<T>"'],
  ['a token without its last part', 'Authorization: Bearer <H.P>'],
  ['a token without signature', 'Authorization: Bearer <H.P>.'],
  ['a token and more', 'Authorization: Bearer <T>x'],
  ['a token with padding', 'Authorization: Bearer <T>='],
  ['the header twice, the good token first', 'Authorization: Bearer <T>', 'authorization: Bearer nonsense'],
  ['the header twice, the good token last', 'Authorization: Bearer nonsense', 'Authorization: Bearer <T>'],
  ['the same token twice', 'Authorization: Bearer <T>', 'AUTHORIZATION: Bearer <T>'],
  ['a token of 10,000 characters', `Authorization: Bearer ${'a'.repeat(10_000)}`],
  ['10,000 dots', `Authorization: Bearer ${'.'.repeat(10_000)}`],
  ['bytes that are not ASCII', 'Authorization: Bearer \u00e9\u00e9.\u00e9\u00e9.\u00e9\u00e9'],
  ['__proto__', 'Authorization: Bearer __proto__'],
])('says invalid_token where they are not good: %s', async (_, ...lines) => {
  expect(await ask(lines)).toMatchObject({ status: 401, challenge: INVALID, body: { code: 'token-invalid' } });
});

it.each([
  ['nonsense', NO_JWT],
  ['<T>.e30', NO_JWT],
  ['<H.P>.AAAA', 'the signature is not valid'],
  ['<T> <T>', NO_TOKEN],
  ['', NO_TOKEN],
])('says what is not good about them: Bearer %s', async (token, why) => {
  const message = `the Bearer token is not valid: ${why}`;
  expect(await ask([`Authorization: Bearer ${token}`])).toEqual({
    ...{ status: 401, challenge: INVALID },
    body: { success: false, message, code: 'token-invalid' },
  });
});

it.each(['Bearer', 'bearer', 'bEaReR', 'Bearer  '])('takes the scheme as %j', async (scheme) => {
  expect((await ask([`Authorization: ${scheme} <T>`])).status).toBe(200);
  expect((await ask([`AUTHORIZATION:${scheme} <T>  `])).status).toBe(200);
});

it('a token ends with its credential, and those of another credential go on', async () => {
  const account = await api.account(44);
  const issued = await api.registration.issueCredential(44, CONTEXT);
  const other = new Client(api.url, issued, await tokenFor(api.url, issued));
  expect((await account.send('GET', '/api/webhooks')).status).toBe(200);
  await api.registration.revokeCredential(account.credential.clientId, CONTEXT);
  const { status, body } = await eventually(async () => {
    const answer = await account.send('GET', '/api/webhooks');
    return answer.status !== 200 && answer;
  });
  const message = 'the Bearer token is not valid: the credential of the token was revoked';
  expect([status, body]).toMatchObject([401, { message }]);
  expect((await account.post({ url: 'https://shop.example.com/', eventType: 'cash_in' })).status).toBe(401);
  expect((await other.send('GET', '/api/webhooks')).status).toBe(200);
  const again = await Promise.all(Array.from({ length: 100 }, () => account.send('GET', '/api/webhooks')));
  expect(new Set(again.map((answer) => answer.status))).toEqual(new Set([401]));
});
