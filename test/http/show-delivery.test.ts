/** GET /api/deliveries/{id}, over a view of the test's choice. */
import { randomBytes } from 'node:crypto';
import type { Caller } from '../../src/accounts/access-tokens.js';
import { BrokerUnavailable, type ReceivedRecord } from '../../src/ports/broker.js';
import type { ViewedDelivery } from '../../src/ports/deliveries-view.js';
import { masterKey } from '../../src/secrets/master-keys.js';
import { createSealing, responsePlace } from '../../src/secrets/sealing.js';
import type { Right } from '../../src/webhooks/limits.js';
import type { Client } from '../support/clients/api-client.js';
import { BINARY, binary, SOURCE, structured } from '../support/generators/cloud-events.js';
import { header, NOW, received } from '../support/generators/delivery-samples.js';
import { viewOf } from '../support/scenes/account-view.js';
import { type BareApi, startBareApi } from '../support/scenes/bare-api.js';
import { detail } from '../support/scenes/recoverable-view.js';

const sealing = createSealing([masterKey(Buffer.alloc(32, 7))], randomBytes);
const [FIRST, SECOND] = ['2026-11-21T09:00:00.000Z', '2026-11-21T09:00:05.000Z'];
const attempt = { status: 503, error: null, durationMs: 12, version: 1 };
const sealed = (response: string, at: string) => sealing.seal(response, responsePlace(42, 'msg_1', at));
const SENT = { id: 'msg_1', webhookId: 1, eventId: 'pay-1', eventType: 'cash_in', outcome: 'delivered' } as const;
const DELIVERY = detail(0, {
  ...SENT,
  attempts: [
    { ...attempt, at: FIRST, response: sealed('try later', FIRST) },
    {
      ...{ ...attempt, at: SECOND, status: 200, version: 2, trigger: 'resend', actor: 'ana' },
      response: sealed('taken', SECOND),
    },
  ],
  routedAt: NOW + 3,
});
const WEBHOOK = {
  url: 'https://shop.example.com/a',
  eventType: 'cash_in',
  headers: [{ key: 'X-Key', value: 'secret' }],
};
const SESSION = { id: 'ps_0000000000000000', until: '9999-01-01T00:00:00.000Z' };
const recordOf = (value: string | Buffer) => received({ key: null, value: Buffer.from(value), headers: [] });
const removedUrl = (addedBy: string, version: number) => `https://removed.example.com/?${addedBy}, ${version}`;

let api: BareApi;
let client: Client;
let found: ViewedDelivery;
let older: ViewedDelivery[];
let now: number;
let rights: readonly Right[] | null;
let record: () => Promise<ReceivedRecord | null>;
let isRemembered: boolean;
beforeEach(async () => {
  [found, older, now, rights, isRemembered] = [DELIVERY, [], NOW, null, true];
  record = async () => recordOf('{"id":"pay-1"}');
  const publications = (accountId: number) => (id: string) =>
    accountId === found.accountId && id === found.id ? [found, ...older] : [];
  api = await startBareApi({
    parts: {
      view: viewOf((accountId) => ({ publications: publications(accountId) })),
      now: () => new Date(now),
      verifyToken: async () => {
        const caller = { accountId: 42, actor: 'a caller', clientId: null };
        const session = rights && { session: { ...SESSION, can: rights } };
        return { kind: 'verified', caller: { ...caller, ...session } as Caller };
      },
      payloads: { record: () => record(), keptUntil: async () => NOW + 1_000, firstKept: async () => ({}) },
      endpointsOf: async (_, addedBy, versions) =>
        new Map(isRemembered ? [...versions].map((version) => [version, removedUrl(addedBy, version)]) : []),
    },
  });
  client = api.client();
});
afterEach(() => api.close());

interface Shown {
  readonly delivery: Readonly<Record<string, unknown>>;
}
const get = (id = 'msg_1') => client.send<Shown>('GET', `/api/deliveries/${id}`);
const shown = async () => (await get()).body.delivery;

it('shows the delivery as the list does, with its payload and the answers to a failed attempt and to a resend', async () => {
  const url = (version: number) => removedUrl('added 1', version);
  expect(await shown()).toEqual({
    ...{ ...SENT, held: false, endedBy: null, sentAgain: false, nextAttemptAt: null, waitingFor: null },
    publishedAt: new Date(NOW).toISOString(),
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
  });
});

it('shows the time of the next attempt until it has passed, and from then on what the delivery waits for', async () => {
  found = { ...DELIVERY, outcome: 'retrying', nextAttemptAt: SECOND };
  expect(await shown()).toMatchObject({ nextAttemptAt: SECOND, waitingFor: 'schedule' });
  now = Date.parse(SECOND);
  expect(await shown()).toMatchObject({ nextAttemptAt: null, waitingFor: 'queue' });
  found = { ...found, nextAttemptAt: null, waitingFor: 'endpoint-failing' };
  expect(await shown()).toMatchObject({ nextAttemptAt: null, waitingFor: 'endpoint-failing' });
});

it('shows the URL that the webhook has; once it was moved, each attempt that of its version', async () => {
  await client.post(WEBHOOK);
  expect((await shown()).attempts).toMatchObject([{ url: WEBHOOK.url }, { url: WEBHOOK.url }]);
  await client.patch(1, { url: 'https://shop.example.com/b' });
  expect((await shown()).attempts).toMatchObject([/1$/, /2$/].map((url) => ({ url: expect.stringMatching(url) })));
});

it.each([
  ['another account', 'msg_1', { accountId: 43 }],
  ['no id of a delivery', 'msg_2', {}],
  ['an id that can be none', '%00', {}],
  ['an id that is too long', 'x'.repeat(129), {}],
])('%s is the same 404', async (_, id, changes) => {
  found = { ...DELIVERY, ...changes };
  const body = { success: false, message: 'delivery not found', code: 'delivery-not-found' };
  expect(await get(id)).toMatchObject({ status: 404, body });
});

describe('is null:', () => {
  it.each<[what: string, () => Promise<ReceivedRecord | null>]>([
    ['the payload that the topic has lost', async () => null],
    ['the payload while the broker is away', () => Promise.reject(new BrokerUnavailable('planted'))],
  ])('%s', async (_, given) => {
    record = given;
    const request = { contentType: null, headers: {} };
    expect(await shown()).toMatchObject({ payload: null, payloadUntil: expect.any(String), request });
  });

  it('the publication of a delivery whose record has no time, and what else is not known', async () => {
    found = { ...DELIVERY, routedAt: null, firstAt: 0 };
    isRemembered = false;
    const attempts = [{ url: null }, { url: null }];
    expect(await shown()).toMatchObject({ routedAt: null, publishedAt: null, attempts });
  });

  it.each([
    ['that was sealed for another account', sealing.seal('x', responsePlace(43, 'msg_1', FIRST))],
    ['of another attempt', sealed('x', SECOND)],
  ])('an answer %s', async (_, response) => {
    found = { ...DELIVERY, attempts: [{ ...attempt, at: FIRST, response }] };
    expect(await shown()).toMatchObject({ attempts: [{ response: null }] });
  });
});

it('shows U+FFFD for what is no UTF-8 in a payload', async () => {
  record = async () => recordOf(Buffer.from([0x61, 0xff]));
  expect((await shown()).payload).toBe('a\ufffd');
});

it('shows an account nothing of names that it may not learn', async () => {
  found = { ...DELIVERY, attempts: [{ ...attempt, at: FIRST, status: null, error: 'dns', reason: 'connecting' }] };
  expect((await shown()).attempts).toMatchObject([{ error: 'host', reason: null }]);
});

describe('what was sent', () => {
  it('of a CloudEvent in binary mode has its content type and attributes, and the headers of the webhook', async () => {
    await client.post(WEBHOOK);
    const content = [header('content-type', 'application/xml')];
    record = async () => received(binary({ ce_subject: 'conta é' }, '<pix/>', content));
    const headers = {
      ...{ 'ce-specversion': '1.0', 'ce-id': 'pay-1', 'ce-source': SOURCE, 'ce-type': BINARY.ce_type },
      ...{ 'ce-accountid': '42', 'ce-subject': 'conta%20%C3%A9', 'X-Key': 'secret' },
    };
    const request = { contentType: 'application/xml', headers };
    expect(await shown()).toMatchObject({ payload: '<pix/>', request });
  });

  it('has a header of the webhook instead of the attribute of its name, in any case', async () => {
    await client.post({ ...WEBHOOK, headers: [{ key: 'CE-Subject', value: 'own' }] });
    record = async () => received(binary({ ce_subject: 'conta' }));
    const { headers } = (await shown()).request as { headers: object };
    expect(Object.entries(headers).filter(([name]) => /subject/i.test(name))).toEqual([['CE-Subject', 'own']]);
  });

  it('of a CloudEvent in structured mode has its content type alone', async () => {
    record = async () => received(structured());
    const contentType = 'application/cloudevents+json; charset=utf-8';
    expect((await shown()).request).toEqual({ contentType, headers: {} });
  });

  it.each([
    [['read', 'payloads'], { 'ce-id': 'pay-1', 'X-Key': '' }],
    [['read', 'configure'], { 'ce-id': '', 'X-Key': 'secret' }],
  ] as const)('has for a session with %j the values that it may see', async (can, headers) => {
    await client.post(WEBHOOK);
    rights = can;
    record = async () => received(binary());
    expect((await shown()).request).toMatchObject({ contentType: 'application/json', headers });
  });
});

it('shows the newest of several publications, and the outcome of each', async () => {
  expect(await shown()).not.toHaveProperty('publications');
  older = [{ ...DELIVERY, firstAt: 0, outcome: 'exhausted' }];
  expect(await shown()).toMatchObject({
    outcome: 'delivered',
    publications: [
      { publishedAt: new Date(NOW).toISOString(), outcome: 'delivered' },
      { publishedAt: null, outcome: 'exhausted' },
    ],
  });
});
