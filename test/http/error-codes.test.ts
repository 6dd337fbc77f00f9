/** Each code that docs/api.md lists is provoked: what nothing answers is no code. Statuses and shapes: support/documented.ts. */
import { randomUUID } from 'node:crypto';
import { KeysUnavailable } from '../../src/accounts/access-tokens.js';
import { parseEndpoint } from '../../src/endpoints/endpoint-url.js';
import { Admission } from '../../src/http/admission.js';
import { ERRORS, FIELD_ERRORS } from '../../src/http/error-codes.js';
import { createRateLimit } from '../../src/limits/user-limits.js';
import { BrokerUnavailable, RecordRefused, TimestampRefused } from '../../src/ports/broker.js';
import type { ViewedDelivery, ViewQueries } from '../../src/ports/deliveries-view.js';
import { StoreUnavailable } from '../../src/ports/event-store.js';
import type { SentAgain } from '../../src/ports/send-again.js';
import { NO_BUDGET } from '../../src/webhooks/account-buckets.js';
import { CommandQueueFull } from '../../src/webhooks/account-command-queue.js';
import { enveloped } from '../../src/webhooks/envelope.js';
import { accountStream, type WebhookAdded } from '../../src/webhooks/events.js';
import { request } from '../support/clients/api-client.js';
import { head, rawRequest } from '../support/clients/raw-request.js';
import { added, CONTEXT } from '../support/generators/webhook-samples.js';
import { viewOf } from '../support/scenes/account-view.js';
import { type BareApi, type BareOptions, startBareApi, UNPACED } from '../support/scenes/bare-api.js';

/** `POST /api/webhooks`, with its JSON, or a body as it is; an empty header is left out. */
type Ask = readonly [route: string, json?: unknown, headers?: Readonly<Record<string, string>>];

const allowedPorts = [{ from: 443, to: 443 }];
const checkEndpoint = (url: string) => parseEndpoint(url, { allowedPorts, allowPrivate: false });

const started: BareApi[] = [];
afterEach(async () => {
  for (const bare of started.splice(0)) await bare.close();
});

async function start(options: BareOptions = {}): Promise<BareApi> {
  const bare = await startBareApi({ ...options, parts: { checkEndpoint, ...options.parts } });
  started.push(bare);
  return bare;
}

async function send({ url }: BareApi, [route, json, own]: Ask): Promise<string[]> {
  const [method, path] = route.split(' ') as [string, string];
  const token = path.startsWith('/api/payment-events') ? 'publisher' : 'caller-42';
  const given = { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...own };
  const headers = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ''));
  const body = typeof json === 'string' ? { bytes: json } : { json };
  return codesIn((await request(url, method, path, { headers, ...body })).body);
}

function codesIn(body: unknown): string[] {
  const { code, errors = [] } = body as { code: string; errors?: { code: string }[] };
  return [code, ...errors.map((one) => one.code)];
}

const seen = new Set<string>();
/** @param asks the last of them is the one that is refused */
async function provoke(code: string, bare: BareApi, ...asks: readonly Ask[]): Promise<void> {
  let codes: string[] = [];
  for (const ask of asks) codes = await send(bare, ask);
  expect(codes).toContain(code);
  seen.add(code);
}

const WEBHOOK = { url: 'https://shop.example.com/', eventType: 'cash_in' };
const register = (given: object = {}): Ask => ['POST /api/webhooks', { ...WEBHOOK, ...given }];
const withUrl = (url: string) => register({ url });
const withHeader = (key: string, value = 'v') => register({ headers: [{ key, value }] });
const session = (given: object): Ask => ['POST /api/portal-sessions', given];
const publish = (json: unknown, type = 'application/json', more: object = {}): Ask => [
  'POST /api/payment-events',
  json,
  { 'content-type': type, ...more },
];
const listBy = (authorization: string): Ask => ['GET /api/webhooks', undefined, { authorization }];
const EVENT = { id: 'pay-1', type: 'cash_in', accountId: 42 };

const OF_REQUESTS: Readonly<Record<string, Ask>> = {
  'invalid-fields': register({ eventType: 'cash' }),
  'invalid-events': publish({}),
  'body-not-json': ['POST /api/webhooks', '{'],
  'body-not-object': ['POST /api/webhooks', []],
  'body-not-array': publish({}, 'application/cloudevents-batch+json'),
  'token-missing': listBy(''),
  'token-invalid': listBy('Bearer nobody'),
  'session-ended': ['GET /console/session', undefined, { 'x-console': 'ps_0123456789abcdef' }],
  'publisher-token-required': publish(EVENT, undefined, { authorization: 'Bearer caller-42' }),
  'account-token-required': listBy('Bearer publisher'),
  'not-found': ['GET /api/nothing'],
  'account-not-found': listBy('Bearer caller-43'),
  'webhook-not-found': ['DELETE /api/webhooks/7'],
  'recovery-not-found': ['GET /api/recoveries/none'],
  'notices-not-set': ['POST /api/notices/test'],
  'session-not-found': ['DELETE /api/portal-sessions/none'],
  'console-not-built': ['GET /console'],
  'method-not-allowed': ['PUT /api/webhooks', {}],
  'body-too-large': ['POST /api/webhooks', 'x'.repeat(65_537)],
  'too-many-events': publish(`${JSON.stringify(EVENT)}\n`.repeat(1_001), 'application/x-ndjson'),
  'unsupported-type': ['POST /api/webhooks', 'x', { 'content-type': 'text/plain' }],
  'unsupported-encoding': ['POST /api/webhooks', 'x', { 'content-encoding': 'gzip' }],
  'deliveries-unreadable': ['GET /api/deliveries'],

  missing: register({ url: undefined }),
  'wrong-type': register({ url: 1 }),
  'not-one-of': register({ eventType: 'cash' }),
  'out-of-range': ['GET /api/deliveries?limit=0'],
  'too-many-items': register({ headers: Array(6).fill({ key: 'X-A', value: 'v' }) }),
  'too-few-items': register({ eventType: undefined, eventTypes: [] }),
  'repeated-items': register({ eventType: undefined, eventTypes: ['cash_in', 'cash_in'] }),
  'too-long': withHeader('X-A', 'v'.repeat(4_097)),
  'too-short': session({ user: '' }),
  malformed: session({ returnUrl: 'https://user@shop.example.com/' }),
  'not-a-time': ['GET /api/deliveries?from=x'],
  'not-later-than': [
    'POST /api/recoveries',
    { webhookIds: [1], since: '2026-11-21T09:00:00Z', until: '2026-11-21T09:00:00Z' },
  ],
  'too-many-steps': ['GET /api/stats?step=1m&from=2020-01-01T00:00:00Z'],
  'not-together': register({ eventTypes: ['cash_in'] }),
  'code-refused': ['POST /console/session', { code: 'x' }],
  'not-a-payment-event': publish({}),
  'url-too-long': withUrl(`https://shop.example.com/${'a'.repeat(2_040)}`),
  'url-not-https': withUrl('http://shop.example.com/'),
  'url-characters': withUrl('https://shop.example.com/a b'),
  'url-fragment': withUrl('https://shop.example.com/#a'),
  'url-user': withUrl('https://user@shop.example.com/'),
  'url-invalid': withUrl('https://shop.example.com:65536/'),
  'port-refused': withUrl('https://shop.example.com:444/'),
  'host-address': withUrl('https://8.8.8.8/'),
  'host-reserved': withUrl('https://shop.internal/'),
  'host-invalid': withUrl('https://shop..com/'),
  'header-name': withHeader('X A'),
  'header-blocked': withHeader('Host'),
  'header-repeated': register({ headers: [{ key: 'X-A', value: 'v' }, { key: 'x-a', value: 'v' }] }), // biome-ignore format: one case a line
  'header-value': withHeader('X-A', ' v'),
};

describe('a request alone', () => {
  let bare: BareApi;
  beforeAll(async () => {
    bare = await startBareApi({ parts: { checkEndpoint } });
  });
  afterAll(() => bare.close());

  it.each(Object.entries(OF_REQUESTS))('provokes %s', (code, ask) => provoke(code, bare, ask));
});

it('the state of an account provokes the codes of its limits', async () => {
  const bare = await start();
  const url = (n: number, eventType = 'cash_in') => register({ url: `https://shop.example.com/${n}`, eventType });
  await provoke('limit-reached', bare, ...[1, 2, 3, 4].map((n) => url(n)));
  await provoke('url-taken', bare, ['PATCH /api/webhooks/1', { url: 'https://shop.example.com/2' }]);
  await provoke('nothing-to-change', bare, ['PATCH /api/webhooks/1', {}]);
  await provoke('too-many-secrets', bare, ...Array(6).fill(['POST /api/signing-secrets', {}]));
  const keyed = (n: number): Ask => ['POST /api/webhooks', url(n, 'cash_out')[1], { 'idempotency-key': 'k' }];
  await provoke('idempotency-key-used', bare, keyed(1), keyed(2));
});

it.each<[string, WebhookAdded[]]>([
  ['account-full', Array.from({ length: 100 }, (_, n) => added(n + 1))],
  // An event of more than 512 KiB would be unreadable.
  [
    'account-too-large',
    [1, 2, 3].map((id) => added(id, { headers: [{ key: 'X-A', sealed: 'x'.repeat(400 * 1024) }] })),
  ],
])('a history provokes %s', async (code, events) => {
  const bare = await start();
  await bare.store.append(accountStream(42), enveloped(events, CONTEXT, randomUUID), 0);
  await provoke(code, bare, register({ eventType: 'cash_out' }));
});

const DELIVERY = { id: 'msg_1', outcome: 'exhausted', sentAgain: false } as ViewedDelivery;
const delivered = viewOf({ publications: () => [DELIVERY], recoverableCount: () => NONE } as Partial<ViewQueries>);
const NONE = { count: 0, oldest: null, newest: null };
const sends = (sent: SentAgain) => ({ view: delivered, sendAgain: async () => sent });
const RESEND: Ask = ['POST /api/deliveries/msg_1/resend'];
const fails = (error: Error) => ({ handleKeyedCommand: () => Promise.reject(error) });
const publishes = (error: Error) => ({
  publishing: { broker: { publish: () => Promise.reject(error) }, topics: ['payments'] as [string], ...UNPACED },
});
const spent = () => {
  const admission = new Admission({ msPerMinute: 1, now: () => 0 });
  admission.charge({ owner: 42, user: 'a caller' }, 10);
  return { admission };
};
const limited = createRateLimit(1, () => 0);
const rateLimits = { writes: limited, tests: limited, tokens: limited };
const SINCE = { since: '2026-11-21T09:00:00Z' };

const STAGED: Readonly<Record<string, readonly [BareOptions, ...Ask[]]>> = {
  'right-missing': [{ parts: { verifyToken: async () => READER } }, ['DELETE /api/webhooks/1']],
  'delivery-not-found': [{ parts: { view: viewOf({ publications: () => [] }) } }, RESEND],
  'webhook-inactive': [{ parts: sends({ kind: 'webhook-inactive' }) }, RESEND],
  'payload-gone': [{ parts: sends({ kind: 'payload-gone' }) }, RESEND],
  'sent-too-often': [{ parts: sends({ kind: 'sent-too-often', params: { limit: 100 } }) }, RESEND],
  'too-much-sent-again': [{ parts: sends({ kind: 'too-much-sent-again', retryAfterMs: 1 }) }, RESEND],
  'recovery-running': [
    { parts: { view: delivered } },
    ...[register(), ...Array<Ask>(2).fill(['POST /api/webhooks/1/recover', SINCE])],
  ],
  'too-many-requests': [{ parts: { rateLimits } }, register(), register()],
  'too-many-waiting': [{ parts: fails(new CommandQueueFull('planted')) }, register()],
  'reads-too-costly': [{ parts: spent() }, ['GET /api/history']],
  'over-budget': [{ budget: { ...NO_BUDGET, take: () => 1 } }, register()],
  'test-running': [{}, register(), ['POST /api/webhooks/1/test']],
  'test-interrupted': [{ parts: { sendTest: async () => ({ kind: 'interrupted' }) } }, register(), ['POST /api/webhooks/1/test']], // biome-ignore format: one case a line
  'internal-error': [{ parts: fails(new Error('planted')) }, register()],
  unavailable: [{ parts: fails(new StoreUnavailable('planted')) }, register()],
  'keys-unavailable': [{ parts: { verifyToken: () => Promise.reject(new KeysUnavailable(1)) } }, register()],
  'broker-unavailable': [{ parts: publishes(new BrokerUnavailable('planted')) }, publish(EVENT)],
  'topic-refuses': [{ parts: publishes(new RecordRefused('planted')) }, publish(EVENT)],
  'clock-wrong': [{ parts: publishes(new TimestampRefused('planted')) }, publish(EVENT)],
  'too-many-unread': [
    {
      parts: { admission: new Admission({ msPerMinute: 0, now: () => 0, unsent: { user: 0, owner: 0, process: 0 } }) },
    },
    register({ headers: Array.from({ length: 5 }, (_, n) => ({ key: `X-${n}`, value: 'v'.repeat(4_096) })) }),
  ],
};

const READER = {
  kind: 'verified',
  caller: { accountId: 42, actor: 'a user', clientId: null, session: { id: 'ps_1', can: ['read'] } },
} as never;

it.each(Object.entries(STAGED))('a failure behind the API provokes %s', async (code, [options, ...asks]) => {
  await provoke(code, await start(options), ...asks);
});

it.each<[code: string, limits: BareOptions['limits'], request: string]>([
  ['malformed-request', {}, 'x\r\n\r\n'],
  ['head-too-large', {}, head('GET / HTTP/1.1', `X-A: ${'v'.repeat(20_000)}`)],
  ['request-timeout', { headMs: 50, requestMs: 50, lookEveryMs: 10 }, 'GET / HTTP/1.1\r\n'],
])('bytes that are no request provoke %s', async (code, limits, bytes) => {
  const ownTokens = { issue: () => Promise.reject(new Error('no token')), verify: async () => READER };
  const bare = await start({ ...(limits && { limits }), parts: { ownTokens } });
  expect(codesIn(JSON.parse((await rawRequest(bare.port, bytes)).body))).toContain(code);
  seen.add(code);
});

it('a broker that holds what is published provokes too-many-in-progress', async () => {
  let release = () => {};
  const blocked = new Promise<never[]>((resolve) => {
    release = () => resolve([]);
  });
  const publishing = { broker: { publish: () => blocked }, topics: ['payments'] as [string], ...UNPACED };
  const bare = await start({ parts: { publishing } });
  const lines = `${JSON.stringify({ ...EVENT, data: 'x'.repeat(100_000) })}\n`.repeat(10);
  const all = Array.from({ length: 20 }, () => send(bare, publish(lines, 'application/x-ndjson')));
  expect((await Promise.race(all)).join()).toBe('too-many-in-progress');
  release();
  await Promise.all(all);
  seen.add('too-many-in-progress');
});

it('every code was provoked', () => {
  const listed = Object.keys({ ...ERRORS, ...FIELD_ERRORS });
  expect(listed.filter((code) => !seen.has(code))).toEqual([]);
});
