/** Each refusal that /openapi.json has for an operation is provoked at it, and answered as described there. */
import { KeysUnavailable } from '../../src/accounts/access-tokens.js';
import { Admission } from '../../src/http/admission.js';
import { Reserve, ReservingRequester } from '../../src/limits/reserve.js';
import { StoreUnavailable } from '../../src/ports/event-store.js';
import { type DocumentedOperation, expectDocumented, fetchDocument } from '../support/clients/documented.js';
import { viewOf } from '../support/scenes/account-view.js';
import { type BareApi, type BareOptions, startBareApi } from '../support/scenes/bare-api.js';

type Parts = NonNullable<BareOptions['parts']>;

const spent = new Admission({ msPerMinute: 1, now: () => 0 });
spent.charge({ owner: 42, user: 'a caller' }, 10);
const refusing = () => 1_000;
const empty = new Reserve(() => 0);
empty.requester = (owner, user) => new ReservingRequester(owner, user, () => false);
const fails = (error: Error) => () => Promise.reject(error);
const accountsThat = (error: Error) => ({ session: fails(error), credential: fails(error) }) as never;

/** What a service is like that answers so, whatever is asked. */
const SERVICES: Readonly<Record<string, Parts>> = {
  429: { admission: spent, rateLimits: { writes: refusing, tests: refusing, tokens: refusing }, reserve: empty },
  500: { verifyToken: fails(new TypeError('planted')), accounts: accountsThat(new TypeError('planted')) },
  503: { verifyToken: fails(new KeysUnavailable(1)), accounts: accountsThat(new StoreUnavailable('planted')) },
};

/** Needs more than a request: the test that has it. */
const ELSEWHERE = new Set([
  ...['registerWebhook 422', 'startRecovery 409', 'startRecoveryOfSeveral 409'], // idempotency, recover
  ...['resendDelivery 409', 'rotateSigningSecret 409', 'openSession 409'], // error-codes
  ...['showAuthorizationServer 400', 'issueToken 429', 'issueToken 401'], // error-codes, rate-limit, issue-token
  ...['enterSession 429', 'leaveSession 429', 'leaveSession 404', 'enterSession 503', 'previewSession 503'], // sessions
]);

interface Operation extends DocumentedOperation {
  readonly method: string;
  readonly path: string;
}

interface Init {
  readonly token?: string | null;
  readonly query?: string;
  readonly type?: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const isOfPublishers = ({ path }: Operation) => path === '/api/payment-events';
const mediaType = ({ requestBody }: Operation) => Object.keys(requestBody?.content ?? {})[0] ?? 'application/json';

/** The request that is refused so. */
function wrong(one: Operation, status: string): Init {
  const name = one.parameters?.find(({ in: place }) => place === 'query')?.name;
  switch (status) {
    case '400':
      return name && !one.requestBody ? { query: `?${name}=a&${name}=b` } : { body: '[]' };
    case '401':
      return { token: null };
    case '403':
      return { token: isOfPublishers(one) ? 'caller-42' : 'publisher' };
    case '404':
      return { token: 'caller-7' };
    case '413':
      return { body: 'x'.repeat(1_048_577) };
    case '415':
      return { headers: { 'content-encoding': 'gzip' }, body: 'x' };
    case '431':
      return { headers: { 'x-a': 'v'.repeat(20_000) } };
    default:
      return {};
  }
}

/** A good request, but for what is given. */
async function ask({ url }: BareApi, one: Operation, given: Init) {
  const { token = isOfPublishers(one) ? 'publisher' : 'caller-42', query = goodQuery(one), body } = given;
  const path = `${one.path.replace('{id}', '1')}${query}`;
  const method = one.method.toUpperCase();
  const isBearer = one.security.some((scheme) => 'bearer' in scheme || 'publisher' in scheme);
  const authorization = isBearer && token ? { authorization: `Bearer ${token}` } : {};
  const isSession = one.security.some((scheme) => 'session' in scheme) && !isBearer && token;
  const headers = {
    ...(isSession ? SESSION : authorization),
    'content-type': mediaType(one),
    ...given.headers,
  };
  const sent = method === 'GET' ? {} : { body: body ?? GOOD[one.operationId] ?? '{}' };
  const answer = await fetch(url + path, { method, headers, ...sent });
  return { method, path, status: answer.status, headers: answer.headers, body: await answer.json() };
}

const SESSION = {
  'x-console': 'ps_0123456789abcdef',
  cookie: `console-ps_0123456789abcdef=42.ps_0123456789abcdef.${'x'.repeat(43)}`,
};

/** By operation; `{}` for the others. */
const WEBHOOK = { url: 'https://shop.example.com/', eventType: 'cash_in' };
const SINCE = { since: '2026-11-21T09:00:00Z' };
const GOOD: Readonly<Record<string, string>> = {
  registerWebhook: JSON.stringify(WEBHOOK),
  updateWebhook: '{"isActive":true}',
  moveWebhooks: JSON.stringify({ from: WEBHOOK.url, to: WEBHOOK.url }),
  startRecovery: JSON.stringify(SINCE),
  startRecoveryOfSeveral: JSON.stringify({ ...SINCE, webhookIds: [1] }),
  setNotices: JSON.stringify({ url: WEBHOOK.url }),
  enterSession: '{"code":"x"}',
  previewSession: '{"code":"x"}',
  issueToken: `grant_type=client_credentials&client_id=acct_42_${'0'.repeat(16)}&client_secret=x`,
};

function goodQuery({ parameters = [] }: Operation): string {
  return parameters.some(({ required, in: place }) => required && place === 'query') ? `?since=${SINCE.since}` : '';
}

const ownTokens = { issue: fails(new Error('no token')), verify: fails(new Error('no token')) };
const none = { count: 0, oldest: null, newest: null };
const view = viewOf({ publications: () => [], recoverableCount: () => none });

const services = new Map<string, Promise<BareApi>>();
function serviceOf(status: string): Promise<BareApi> {
  const kind = status in SERVICES ? status : 'good';
  const service = services.get(kind) ?? startBareApi({ parts: { ownTokens, view, ...SERVICES[kind] } });
  services.set(kind, service);
  return service;
}
afterAll(async () => {
  for (const service of services.values()) await (await service).close();
});

/** What needs no token has nothing that could fail. */
const isStatic = (one: Operation) => one.security.length === 0 && !one.requestBody;

it('each operation answers each refusal that it documents', async () => {
  const { paths } = await fetchDocument((await serviceOf('good')).url);
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, one]): Operation => ({ ...one, method, path })),
  );
  const refusals = operations.flatMap((one) => Object.keys(one.responses).map((status) => ({ one, status })));
  const asked = refusals.filter(({ one, status }) => {
    const isHere = Number(status) >= 400 && !ELSEWHERE.has(`${one.operationId} ${status}`);
    return (
      isHere && !(status === '500' && (isStatic(one) || ['enterSession', 'previewSession'].includes(one.operationId)))
    );
  });
  expect(asked.length).toBeGreaterThan(200);
  const answers: string[] = [];
  for (const { one, status } of asked) {
    const service = await serviceOf(status);
    const answer = await ask(service, one, wrong(one, status));
    // Node refuses a head before anything of ours has seen it.
    if (status !== '431') await expectDocumented(service.url, answer);
    answers.push(`${one.operationId} ${answer.status}`);
  }
  expect(answers).toEqual(asked.map(({ one, status }) => `${one.operationId} ${status}`));
});

/** An empty answer would read as the end of a list, or as "never failed". */
it('each operation that reads deliveries is 503 without a view of them, and no other', async () => {
  const bare = await startBareApi();
  try {
    const client = bare.client();
    await client.post(WEBHOOK);
    const { paths } = await fetchDocument(bare.url);
    const unreadable: string[] = [];
    for (const [path, { get }] of Object.entries(paths)) {
      if (!get?.security.some((scheme) => 'bearer' in scheme)) continue;
      const { status, headers, body } = await client.send('GET', `${path.replace('{id}', '1')}?since=${SINCE.since}`);
      if (status !== 503) continue;
      expect([path, headers.get('retry-after'), body]).toMatchObject([path, '1', { code: 'deliveries-unreadable' }]);
      unreadable.push(get.operationId);
    }
    expect(unreadable.toSorted()).toEqual([
      ...['listAccountDeliveries', 'listDeliveries', 'listEvents', 'previewRecovery', 'showDelivery', 'showStats'],
      'showWebhooksHealth',
    ]);
  } finally {
    await bare.close();
  }
});
