/** GET /api/deliveries and /api/webhooks/{id}/deliveries. What the view answers is its contract's; what a query refuses, query-parameters'. */
import { SqliteBroker } from '../../src/adapters/sqlite/broker.js';
import { StoreFile } from '../../src/adapters/sqlite/store-file.js';
import { newDelivery } from '../../src/delivery/delivery.js';
import { logEntry, loggedAttempt } from '../../src/delivery/log/log-record.js';
import type { DeliveriesPage, DeliveriesQuery } from '../../src/ports/deliveries-view.js';
import type { Outcome } from '../../src/ports/delivery-order.js';
import type { Answer, Client } from '../support/clients/api-client.js';
import { eventually } from '../support/clocks/eventually.js';
import { DELIVERED, failedWith, NOW, named, paymentRecord, received } from '../support/generators/delivery-samples.js';
import { toLogRecord } from '../support/generators/log-records.js';
import { viewOf } from '../support/scenes/account-view.js';
import { startApi } from '../support/scenes/api-fixture.js';
import { type BareApi, startBareApi } from '../support/scenes/bare-api.js';
import { detail } from '../support/scenes/recoverable-view.js';

const EXPIRED = {
  ...{ error: 'tls', reason: 'certificate-expired' },
  expiredCertificate: { name: 'Issuing authority', expiredAt: '2026-11-01T00:00:00.000Z' },
};

interface Listed {
  readonly deliveries: readonly { readonly webhookId: number; readonly eventId: string }[];
  readonly next: string | null;
  readonly code?: string;
}

/** Ahead of every clock of a test run. */
const AHEAD = Date.parse('2999-01-01T00:00:00.000Z');
const EMPTY = { deliveries: [], next: null, completeSince: null };
const cursor = (json: unknown) => Buffer.from(JSON.stringify(json)).toString('base64url');
const CURSOR = cursor([NOW, 'msg_1', '']);

describe('what a page is asked for', () => {
  let api: BareApi;
  let asked: DeliveriesQuery[];
  let page: DeliveriesPage;
  beforeEach(async () => {
    asked = [];
    page = EMPTY;
    const answer = (query: DeliveriesQuery) => {
      asked.push(query);
      return page;
    };
    api = await startBareApi({ parts: { view: viewOf({ page: answer }) } });
    await api.client().post({ url: 'https://shop.example.com/', eventType: 'cash_in' });
  });
  afterEach(() => api.close());

  const get = (query: string, path = '/api/deliveries'): Promise<Answer<Listed>> =>
    api.client().send('GET', `${path}${query}`);

  const filters = { eventType: null, eventId: null, status: null, errors: null };
  const all = { limit: 50, before: null, outcome: null, held: null, from: null, to: null, ...filters };

  it.each([
    ['', {}],
    [`?before=${CURSOR}`, { before: { firstAt: NOW, payment: '', tie: 'msg_1' } }],
    ['?limit=200&outcome=exhausted', { limit: 200, outcome: 'exhausted' }],
    ['?held=true', { held: true }],
    ['?held=false', { held: false }],
    ['?eventType=med_created&eventId=pay%2F1%20x', { eventType: 'med_created', eventId: 'pay/1 x' }],
    ['?status=4xx&error=timeout', { status: '4xx', errors: ['timeout'] }],
    ['?error=host', { errors: ['dns', 'forbidden-address'] }],
    // That would tell which names we have.
    ['?error=dns', { errors: [] }],
    ['?error=forbidden-address', { errors: [] }],
    ['?from=2026-11-21T09:00:00.125Z&to=2026-11-22', { from: NOW + 125, to: NOW + 54_000_000 }],
    ['?from=2026-02-28t24:00:00z', { from: Date.UTC(2026, 2, 1) }],
    ['?to=2026-11-21T10:00:00%2B01:00', { to: NOW }],
    ['?to=2026-11-21T10:00:00+01:00', { to: NOW }],
    ['?to=2028-02-29T00:00:00,5-03:00', { to: Date.UTC(2028, 1, 29, 3, 0, 0, 500) }],
    ['?offset=5&page=x&limit=3&%zz=%', { limit: 3 }],
  ])('"%s" is asked of the view, by the account and by a webhook', async (query, expected) => {
    for (const path of ['/api/deliveries', '/api/webhooks/1/deliveries'])
      expect(await get(query, path)).toMatchObject({ status: 200, body: EMPTY });
    expect(asked).toEqual([null, 1].map((webhookId) => ({ ...all, webhookId, ...expected })));
  });

  it('of the account may be of one webhook', async () => {
    await get('?webhookId=7');
    expect(asked).toEqual([{ ...all, webhookId: 7 }]);
  });

  it('the next of a page, whatever it is, is what before takes', async () => {
    const places = [
      { firstAt: NOW, tie: 'msg_1', payment: `payment-events/0/7@${NOW}` },
      { firstAt: 0, payment: '', tie: '!' },
      { firstAt: Number.MAX_SAFE_INTEGER, tie: `${'~'.repeat(126)}.5`, payment: `${'t'.repeat(249)}/9/9@-1` },
    ];
    for (const next of places) {
      page = { ...EMPTY, next };
      const { body } = await get('');
      expect(body.next).toMatch(/^[\w-]+$/);
      expect((await get(`?before=${body.next}`)).status).toBe(200);
      expect(asked.at(-1)?.before).toEqual(next);
    }
  });

  it.each([
    ...['before=x', `before=${cursor([5])}`, `before=${cursor(['5', 'msg_1', ''])}`, `before=${cursor({})}`],
    ...[`before=${CURSOR}!`, `before=${CURSOR}=`, `before=${CURSOR.slice(0, 8)}&before=${CURSOR.slice(8)}`],
  ])('%s is 400 and named, and nothing is asked for', async (query) => {
    const errors = [{ field: 'before', code: 'malformed' }];
    expect(await get(`?${query}`)).toMatchObject({ status: 400, body: { code: 'invalid-fields', errors } });
    expect(asked).toEqual([]);
  });

  it('an answer that the client has already is 304, without a body', async () => {
    const ask = (tag: string) => api.client().send('GET', '/api/deliveries', { headers: { 'if-none-match': tag } });
    const tag = (await ask('"other"')).headers.get('etag') ?? '';
    for (const given of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
      const { status, headers, body } = await ask(given);
      expect([status, headers.get('etag'), body]).toEqual([304, tag, null]);
    }
    // The tag ends within the first 1,024 characters, and then beyond them.
    expect((await ask(`${'"other", '.repeat(108)}${tag}`)).status).toBe(304);
    expect((await ask(`${'"other", '.repeat(109)}${tag}`)).status).toBe(200);
    page = { ...EMPTY, next: { firstAt: NOW, payment: '', tie: 'msg_1' } };
    const changed = await ask(tag);
    expect([changed.status, changed.headers.get('etag') === tag]).toEqual([200, false]);
  });

  it.each([
    [
      { error: 'dns', reason: 'connecting' },
      { error: 'host', reason: null },
    ],
    [
      { error: 'tls', reason: 'not-tls' },
      { error: 'tls', reason: 'not-tls' },
    ],
    [EXPIRED, EXPIRED],
    [{ error: null }, { error: null }],
  ])('shows %j as %j: nobody learns which names our network has', async (failure, shown) => {
    const attempt = { at: new Date(NOW).toISOString(), status: null, durationMs: 1, version: 1 };
    page = { ...EMPTY, deliveries: [detail(1, { attempts: [{ ...attempt, ...failure, response: 'sealed' }] })] };
    const { deliveries } = (await get('')).body as unknown as {
      readonly deliveries: readonly Record<'attempts', unknown>[];
    };
    expect(deliveries.map(({ attempts }) => attempts)).toEqual([[{ ...attempt, ...shown }]]);
  });
});

it('a page shows the deliveries of the account or of one webhook, also once it was removed, and of no other account', async () => {
  const api = await startApi();
  const file = new StoreFile(api.dataDir);
  const broker = new SqliteBroker(file);
  try {
    const [client, stranger] = [await api.account(42), await api.account(43)];
    for (const path of ['a', 'b']) await client.post({ url: `https://shop.example.com/${path}`, eventType: 'cash_in' });
    await stranger.post({ url: 'https://shop.example.com/c', eventType: 'cash_in' });
    const [one = 0, two = 0] = (await client.list()).webhooks.map(({ id }) => id);
    const [theirs = 0] = (await stranger.list()).webhooks.map(({ id }) => id);
    const logged = (webhookId: number, offset: number, outcome: Outcome, timestamp = NOW + offset, accountId = 42) => {
      const event = { id: `pay-${offset}`, type: 'cash_in', accountId } as const;
      const delivery = newDelivery(event, named(webhookId), received(paymentRecord(), { offset, timestamp }));
      const attempt = loggedAttempt(outcome === 'delivered' ? DELIVERED : failedWith(503), 1);
      return logEntry(delivery, outcome, attempt, outcome === 'retrying' ? AHEAD : null);
    };
    const own = [
      ...[logged(one, 1, 'delivered'), logged(two, 1, 'retrying')],
      ...[{ ...logged(two, 2, 'exhausted'), held: true } as const, logged(one, 3, 'delivered', -1)],
    ];
    const deliveries = [...own, logged(theirs, 9, 'delivered', NOW, 43)];
    await broker.publish('webhooks.deliveries', [toLogRecord({ deliveries })]);
    const shown = async (query = '', as: Client = client) =>
      (await as.send<Listed>('GET', `/api/deliveries${query}`)).body.deliveries;
    await eventually(async () => (await shown()).length === 4);
    const [held, , , timeless] = await shown();
    expect((await shown()).map(({ eventId }) => eventId)).toEqual(['pay-2', 'pay-1', 'pay-1', 'pay-3']);
    const attempt = { at: new Date(NOW).toISOString(), status: 503, error: null, durationMs: 12, version: 1 };
    const row = { id: expect.stringMatching(/^msg_[\w-]{27}$/), webhookId: two, eventType: 'cash_in', endedBy: null };
    expect(held).toEqual({
      ...row,
      ...{ eventId: 'pay-2', outcome: 'exhausted', held: true, nextAttemptAt: null, waitingFor: null },
      ...{ attempts: [attempt], publishedAt: new Date(NOW + 2).toISOString() },
    });
    expect(timeless).toMatchObject({ eventId: 'pay-3', publishedAt: null });
    const waits = {
      ...row,
      ...{ eventId: 'pay-1', outcome: 'retrying', held: false, nextAttemptAt: new Date(AHEAD).toISOString() },
      ...{ waitingFor: 'schedule', attempts: [attempt], publishedAt: new Date(NOW + 1).toISOString() },
    };
    const ofTwo = await client.send<Listed>('GET', `/api/webhooks/${two}/deliveries`);
    expect(ofTwo).toMatchObject({ status: 200, body: { ...EMPTY, deliveries: [held, waits] } });
    expect(await shown('', stranger)).toMatchObject([{ webhookId: theirs, eventId: 'pay-9' }]);
    for (const query of [`?webhookId=${one}`, '?eventId=pay-1']) expect(await shown(query, stranger)).toEqual([]);
    expect((await stranger.send('GET', `/api/webhooks/${two}/deliveries`)).status).toBe(404);
    expect((await client.remove(two)).body).toMatchObject({ cancelled: 1 });
    expect((await client.send('GET', `/api/webhooks/${two}/deliveries`)).status).toBe(404);
    const ended = { outcome: 'cancelled', nextAttemptAt: null, endedBy: 'webhook-removed' };
    expect(await shown(`?webhookId=${two}&eventId=pay-1`)).toMatchObject([ended]);
  } finally {
    await broker.close();
    file.close();
    await api.close();
  }
});
