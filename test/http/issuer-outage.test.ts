import { expectDocumented } from '../support/clients/documented.js';
import { eventually } from '../support/eventually.js';
import { CONTEXT } from '../support/generators/webhook-samples.js';
import { type RecordingLogger, recordingLogger } from '../support/recording-logger.js';
import { type RunningApi, startApi } from '../support/scenes/api-fixture.js';
import { type Issuer, newPairs, startIssuer } from '../support/servers/issuer.js';

const ROUTES = [
  ...['GET /api/webhooks', 'POST /api/webhooks', 'PATCH /api/webhooks/1', 'DELETE /api/webhooks/1'],
  ...['GET /api/webhooks/1/deliveries', 'POST /api/webhooks/1/test'],
];
const pairs = newPairs();

const PART = { part: 'issuer keys' };
const REFUSED =
  "the issuer's keys (AUTH_JWKS_URL) can't be fetched: nothing listens at an address of the issuer (ECONNREFUSED): see AUTH_JWKS_URL";

let issuer: Issuer;
let api: RunningApi;
let logger: RecordingLogger;

beforeEach(async () => {
  issuer = await startIssuer({ pairs });
  api = await opened();
});

afterEach(async () => {
  await api.close();
  await issuer.close();
});

async function opened(): Promise<RunningApi> {
  logger = recordingLogger();
  const rules = { AUTH_ISSUER: 'https://issuer', AUTH_AUDIENCE: 'webhooks' };
  const started = await startApi({ AUTH_JWKS_URL: issuer.jwksUrl, ...rules }, logger);
  await started.registration.register(42, CONTEXT);
  return started;
}

function tokenOf(jti: string, kid = 'RS256'): Promise<string> {
  const iat = Math.floor(Date.now() / 1000);
  return issuer.sign({ iss: 'https://issuer', aud: 'webhooks', sub: '42', iat, exp: iat + 600, jti }, { kid });
}

async function ask(route: string, token: string) {
  const [method = '', path = ''] = route.split(' ');
  const response = await fetch(api.url + path, { method, headers: { authorization: `Bearer ${token}` } });
  const { status, headers } = response;
  const body = (await response.json()) as object;
  await expectDocumented(api.url, { method, path, status, headers, body });
  return { status, retryAfter: headers.get('retry-after'), challenge: headers.get('www-authenticate'), body };
}

const NOT_NOW = {
  status: 503,
  retryAfter: '2',
  challenge: null,
  body: { success: false, message: expect.stringMatching(/keys of the token's issuer/), code: 'keys-unavailable' },
};

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

it('goes away: tokens of keys in hand are taken, of others 503 with Retry-After; ready, and it says so', async () => {
  await eventually(isReady);
  const [before, during] = [await tokenOf('before'), await tokenOf('during')];
  expect((await ask('GET /api/webhooks', before)).status).toBe(200);
  expect(await ready()).toEqual({ status: 200, waitingFor: [], part: { ...PART, ready: true, needed: false } });
  await issuer.close();
  for (const route of ROUTES) expect(await ask(route, await tokenOf(route, 'unknown'))).toEqual(NOT_NOW);
  for (const token of [before, during]) expect((await ask('GET /api/webhooks', token)).status).toBe(200);
  const part = { ...PART, ready: false, needed: false, why: REFUSED };
  expect(await ready()).toEqual({ status: 200, waitingFor: [], part });
  expect(logger.warnings).toHaveLength(1);
  issuer = await startIssuer(issuer.place);
  await eventually(isReady);
  expect((await ask('GET /api/webhooks', await tokenOf('after', 'unknown'))).status).toBe(401);
});

it('is away from the start: 503 with Retry-After, never 401; not ready; and then its tokens are taken', async () => {
  await api.close();
  await issuer.close();
  api = await opened();
  await eventually(async () => (await ready()).part?.why === REFUSED);
  expect(await ready()).toMatchObject({ status: 503, waitingFor: ['issuer keys'], part: { needed: true } });
  for (const route of ROUTES) expect(await ask(route, await tokenOf(route))).toEqual(NOT_NOW);
  expect((await ask('GET /api/webhooks', 'nonsense')).status).toBe(401);
  expect((await fetch(`${api.url}/api/webhooks`)).status).toBe(401);
  expect(logger.warnings).toHaveLength(1);
  issuer = await startIssuer(issuer.place);
  await eventually(isReady);
  expect((await ask('GET /api/webhooks', await tokenOf('after'))).status).toBe(200);
  expect((await ready()).status).toBe(200);
});

it('hangs from the start: the service starts, and stops, without waiting for it', async () => {
  await api.close();
  issuer.answerWith('silence');
  const before = issuer.asked();
  api = await opened();
  await eventually(() => issuer.asked() > before);
  expect(await ready()).toMatchObject({ status: 503, waitingFor: ['issuer keys'] });
});

it('own tokens need no issuer: there is no such part', async () => {
  await api.close();
  api = await startApi();
  expect(await ready()).toEqual({ status: 200, waitingFor: [], part: undefined });
});
