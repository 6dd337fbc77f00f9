/** GET /api/deliveries/{id}, over a view of the test's choice. */
import { randomBytes } from 'node:crypto';
import type { Caller } from '../../src/accounts/access-tokens.js';
import type { ApiParts } from '../../src/http/api-parts.js';
import { BrokerUnavailable, type NewRecord } from '../../src/ports/broker.js';
import type { DeliveryDetail } from '../../src/ports/deliveries-view.js';
import { masterKey } from '../../src/secrets/master-keys.js';
import { createSealing, responsePlace } from '../../src/secrets/sealing.js';
import type { Right } from '../../src/webhooks/limits.js';
import { expectDocumented } from '../support/clients/documented.js';
import { BINARY, binary, SOURCE, structured } from '../support/generators/cloud-events.js';
import { header, NOW, received } from '../support/generators/delivery-samples.js';
import { viewOf } from '../support/scenes/account-view.js';
import { type BareApi, startBareApi } from '../support/scenes/bare-api.js';

const sealing = createSealing([masterKey(Buffer.alloc(32, 7))], randomBytes);
const PAYMENT = `payment-events/0/7@${NOW}`;
const [FIRST, SECOND] = ['2026-11-21T09:00:00.000Z', '2026-11-21T09:00:05.000Z'];
const attempt = { status: 503, error: null, durationMs: 12, version: 1 };
const sealed = (response: string, at: string) => sealing.seal(response, responsePlace(42, 'msg_1', at));
const DELIVERY: DeliveryDetail = {
  ...{ accountId: 42, id: 'msg_1', webhookId: 1, webhookEvent: 'added 1', eventId: 'pay-1', eventType: 'cash_in' },
  ...{
    firstAt: NOW,
    outcome: 'delivered',
    held: false,
    endedBy: null,
    payment: PAYMENT,
    step: null,
    requests: 1,
    eventSource: null,
    sentAgain: false,
    nextAttemptAt: null,
    waitingFor: null,
  },
  attempts: [
    { ...attempt, at: FIRST },
    { ...attempt, at: SECOND, status: 200, version: 2, trigger: 'resend', actor: 'ana' },
  ],
  routedAt: NOW + 3,
  responses: new Map([
    [FIRST, sealed('try later', FIRST)],
    [SECOND, sealed('taken', SECOND)],
  ]),
};

const SESSION = { id: 'ps_0000000000000000', until: '9999-01-01T00:00:00.000Z' };
const sessionOf = (caller: Caller, can: readonly Right[]) => ({ ...caller, session: { ...SESSION, can } }) as Caller;
const recordOf = (value: string | Buffer, headers: NewRecord['headers'] = []) =>
  received({ key: null, value: Buffer.from(value), headers });

let api: BareApi;
let found: DeliveryDetail;
let now: number;
let older: DeliveryDetail[];
let rights: readonly Right[] | null;
let parts: Pick<ApiParts, 'payloads' | 'endpointsOf'>;
beforeEach(async () => {
  found = DELIVERY;
  now = NOW;
  parts = {
    payloads: { record: async () => recordOf('{"id":"pay-1"}'), keptUntil: async () => NOW + 1_000 },
    endpointsOf: async (_, addedBy, versions) =>
      new Map([...versions].map((version) => [version, `https://removed.example.com/?${addedBy}, ${version}`])),
  };
  older = [];
  rights = null;
  const publications = (accountId: number) => (id: string) =>
    accountId === found.accountId && id === found.id ? [found, ...older] : [];
  api = await startBareApi({
    parts: {
      view: viewOf((accountId) => ({ publications: publications(accountId) })),
      now: () => new Date(now),
      verifyToken: async (token) => {
        const caller = { accountId: Number(token.replace('caller-', '')), actor: 'a caller', clientId: null };
        return { kind: 'verified', caller: rights ? sessionOf(caller, rights) : caller };
      },
      payloads: { record: (of) => parts.payloads.record(of), keptUntil: (of) => parts.payloads.keptUntil(of) },
      endpointsOf: (...of) => parts.endpointsOf(...of),
    },
  });
});
afterEach(() => api.close());

async function get(id = 'msg_1', caller = 42) {
  const path = `/api/deliveries/${id}`;
  const response = await fetch(api.url + path, { headers: { authorization: `Bearer caller-${caller}` } });
  const { status, headers } = response;
  const body = (await response.json()) as { delivery: Record<string, unknown> };
  await expectDocumented(api.url, { method: 'GET', path, status, headers, body });
  return { status, body };
}

it('shows the delivery as the list does, with its payload and the answers to a failed attempt and to a resend', async () => {
  const url = (version: number) => `https://removed.example.com/?added 1, ${version}`;
  expect(await get()).toEqual({
    status: 200,
    body: {
      delivery: {
        ...{ id: 'msg_1', webhookId: 1, eventId: 'pay-1', eventType: 'cash_in', outcome: 'delivered' },
        ...{
          held: false,
          endedBy: null,
          sentAgain: false,
          nextAttemptAt: null,
          waitingFor: null,
          publishedAt: new Date(NOW).toISOString(),
        },
        attempts: [
          { ...attempt, at: FIRST, url: url(1), trigger: 'event', actor: null, response: 'try later' },
          {
            ...{ ...attempt, at: SECOND, status: 200, version: 2, url: url(2) },
            ...{ trigger: 'resend', actor: 'ana', response: 'taken' },
          },
        ],
        routedAt: new Date(NOW + 3).toISOString(),
        payload: '{"id":"pay-1"}',
        payloadUntil: new Date(NOW + 1_000).toISOString(),
        request: { contentType: 'application/json', headers: {} },
      },
    },
  });
});

it('shows the time of the next attempt until it has passed, and from then on what the delivery waits for', async () => {
  found = { ...DELIVERY, outcome: 'retrying', nextAttemptAt: SECOND };
  expect((await get()).body.delivery).toMatchObject({ nextAttemptAt: SECOND, waitingFor: 'schedule' });
  now = Date.parse(SECOND);
  expect((await get()).body.delivery).toMatchObject({ nextAttemptAt: null, waitingFor: 'queue' });
  found = { ...found, nextAttemptAt: null, waitingFor: 'endpoint-failing' };
  expect((await get()).body.delivery).toMatchObject({ nextAttemptAt: null, waitingFor: 'endpoint-failing' });
});

it('shows the URL that the webhook has; once it was moved, each attempt that of its version', async () => {
  const headers = { authorization: 'Bearer caller-42', 'content-type': 'application/json' };
  const body = JSON.stringify({ url: 'https://shop.example.com/a', eventType: 'cash_in' });
  expect((await fetch(`${api.url}/api/webhooks`, { method: 'POST', headers, body })).status).toBe(200);
  const { delivery } = (await get()).body;
  expect(delivery.attempts).toMatchObject(Array(2).fill({ url: 'https://shop.example.com/a' }));
  const move = JSON.stringify({ url: 'https://shop.example.com/b' });
  expect((await fetch(`${api.url}/api/webhooks/1`, { method: 'PATCH', headers, body: move })).status).toBe(200);
  expect((await get()).body.delivery.attempts).toMatchObject(
    [{ url: /1$/ }, { url: /2$/ }].map(({ url }) => ({ url: expect.stringMatching(url) })),
  );
});

it.each([
  ['another account', 'msg_1', 42, { accountId: 43 }],
  ['no id of a delivery', 'msg_2', 42, {}],
  ['an id that can be none', '%00', 42, {}],
  ['an id that is too long', 'x'.repeat(129), 42, {}],
])('%s is the same 404', async (_, id, caller, changes) => {
  found = { ...DELIVERY, ...changes };
  expect(await get(id, caller)).toEqual({
    status: 404,
    body: { success: false, message: 'delivery not found', code: 'delivery-not-found' },
  });
});

describe('is null:', () => {
  it.each<readonly [what: string, record: ApiParts['payloads']['record']]>([
    ['the payload that the topic has lost', async () => null],
    ['the payload while the broker is away', () => Promise.reject(new BrokerUnavailable('planted'))],
  ])('%s', async (_, record) => {
    parts = { ...parts, payloads: { ...parts.payloads, record } };
    const request = { contentType: null, headers: {} };
    expect((await get()).body.delivery).toMatchObject({ payload: null, payloadUntil: expect.any(String), request });
  });

  it('the publication of a delivery whose record has no time, and what else is not known', async () => {
    found = { ...DELIVERY, routedAt: null, firstAt: 0 };
    parts = { ...parts, endpointsOf: async () => new Map() };
    expect((await get()).body.delivery).toMatchObject({
      ...{ routedAt: null, publishedAt: null },
      attempts: [{ url: null }, { url: null }],
    });
  });

  it.each([
    [
      'that was sealed with a key that is gone',
      createSealing([masterKey(Buffer.alloc(32, 9))], randomBytes).seal('x', responsePlace(42, 'msg_1', FIRST)),
    ],
    ['of another attempt', sealed('x', SECOND)],
    ['of another day', sealed('x', FIRST.replace('21T', '22T'))],
    ['of another account', sealing.seal('x', responsePlace(43, 'msg_1', FIRST))],
  ])('an answer %s', async (_, response) => {
    found = { ...DELIVERY, responses: new Map([[FIRST, response]]) };
    expect((await get()).body.delivery).toMatchObject({ attempts: [{ response: null }, {}] });
  });
});

it('shows U+FFFD for what is no UTF-8 in a payload', async () => {
  parts = { ...parts, payloads: { ...parts.payloads, record: async () => recordOf(Buffer.from([0x61, 0xff])) } };
  expect((await get()).body.delivery.payload).toBe('a\ufffd');
});

it('shows an account nothing of names that it may not learn', async () => {
  found = { ...DELIVERY, attempts: [{ ...attempt, at: FIRST, status: null, error: 'dns', reason: 'connecting' }] };
  expect((await get()).body.delivery.attempts).toMatchObject([{ error: 'host', reason: null }]);
});

describe('what was sent', () => {
  const own = { url: 'https://shop.example.com/a', eventType: 'cash_in', headers: [{ key: 'X-Key', value: 'secret' }] };

  async function addWebhook(): Promise<void> {
    const headers = { authorization: 'Bearer caller-42', 'content-type': 'application/json' };
    const response = await fetch(`${api.url}/api/webhooks`, { method: 'POST', headers, body: JSON.stringify(own) });
    expect(response.status).toBe(200);
  }

  it('of a CloudEvent in binary mode has its content type and attributes, and the headers of the webhook', async () => {
    await addWebhook();
    const record = binary({ ce_subject: 'conta é' }, '<pix/>', [header('content-type', 'application/xml')]);
    parts = { ...parts, payloads: { ...parts.payloads, record: async () => received(record) } };
    expect((await get()).body.delivery).toMatchObject({
      payload: '<pix/>',
      request: {
        contentType: 'application/xml',
        headers: {
          'ce-specversion': '1.0',
          'ce-id': 'pay-1',
          'ce-source': SOURCE,
          'ce-type': BINARY.ce_type,
          'ce-accountid': '42',
          'ce-subject': 'conta%20%C3%A9',
          'X-Key': 'secret',
        },
      },
    });
  });

  it('of a CloudEvent in structured mode has its content type alone', async () => {
    parts = { ...parts, payloads: { ...parts.payloads, record: async () => received(structured()) } };
    const contentType = 'application/cloudevents+json; charset=utf-8';
    expect((await get()).body.delivery.request).toEqual({ contentType, headers: {} });
  });

  it.each([
    [['read', 'payloads'], { 'ce-id': 'pay-1', 'X-Key': '' }],
    [['read', 'configure'], { 'ce-id': '', 'X-Key': 'secret' }],
  ] as const)('has for a session with %j the values that it may see', async (can, headers) => {
    await addWebhook();
    rights = can;
    parts = { ...parts, payloads: { ...parts.payloads, record: async () => received(binary()) } };
    expect((await get()).body.delivery.request).toMatchObject({ contentType: 'application/json', headers });
  });
});

it('shows the newest of several publications, and the outcome of each', async () => {
  expect((await get()).body.delivery).not.toHaveProperty('publications');
  older = [{ ...DELIVERY, firstAt: 0, outcome: 'exhausted' }];
  expect((await get()).body.delivery).toMatchObject({
    outcome: 'delivered',
    publications: [
      { publishedAt: new Date(NOW).toISOString(), outcome: 'delivered' },
      { publishedAt: null, outcome: 'exhausted' },
    ],
  });
});
