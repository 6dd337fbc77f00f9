import { SqliteBroker } from '../../src/adapters/sqlite/broker.js';
import { StoreFile } from '../../src/adapters/sqlite/store-file.js';
import { newDelivery } from '../../src/delivery/delivery.js';
import { logEntry, loggedAttempt } from '../../src/delivery/log/log-record.js';
import type { NewRecord } from '../../src/ports/broker.js';
import type { DeliveriesPage, DeliveriesQuery } from '../../src/ports/deliveries-view.js';
import type { Outcome } from '../../src/ports/delivery-order.js';
import type { Client } from '../support/clients/api-client.js';
import { eventually } from '../support/eventually.js';
import { DELIVERED, failedWith, NOW, named, paymentRecord, received } from '../support/generators/delivery-samples.js';
import { toLogRecord } from '../support/generators/log-records.js';
import { viewOf } from '../support/scenes/account-view.js';
import { type RunningApi, startApi } from '../support/scenes/api-fixture.js';
import { type BareApi, startBareApi } from '../support/scenes/bare-api.js';

interface Listed {
  readonly deliveries: readonly { id: string; eventId: string; outcome: string; attempts: readonly unknown[] }[];
  readonly next: string | null;
}

/** Ahead of every clock of a test run. */
const AHEAD = Date.parse('2999-01-01T00:00:00.000Z');
const cursor = (json: unknown) => Buffer.from(JSON.stringify(json)).toString('base64url');
const CURSOR = cursor([NOW, 'msg_1', '']);

describe('what a page is asked for', () => {
  let api: BareApi;
  let asked: DeliveriesQuery[];
  let page: DeliveriesPage;
  beforeEach(async () => {
    asked = [];
    page = { deliveries: [], next: null, completeSince: null };
    const view = viewOf({
      page: (query) => {
        asked.push(query);
        return page;
      },
    });
    api = await startBareApi({ parts: { view } });
    const headers = { authorization: 'Bearer caller-42', 'content-type': 'application/json' };
    const body = JSON.stringify({ url: 'https://shop.example.com/', eventType: 'cash_in' });
    expect((await fetch(`${api.url}/api/webhooks`, { method: 'POST', headers, body })).status).toBe(200);
  });
  afterEach(() => api.close());

  it('an answer that the client has already is 304, without a body', async () => {
    const ask = (tag: string) =>
      fetch(`${api.url}/api/webhooks/1/deliveries`, {
        headers: { authorization: 'Bearer caller-42', 'if-none-match': tag },
      });
    const tag = (await ask('"other"')).headers.get('etag') ?? '';
    for (const given of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
      const { status, headers, body } = await ask(given);
      expect([status, headers.get('etag'), body]).toEqual([304, tag, null]);
    }
    page = { deliveries: [], next: { firstAt: NOW, id: 'msg_1', payment: '' }, completeSince: null };
    const changed = await ask(tag);
    expect([changed.status, changed.headers.get('etag') === tag]).toEqual([200, false]);
  });

  async function get(query: string, id: number | string = 1, caller = 42) {
    const headers = { authorization: `Bearer caller-${caller}` };
    const response = await fetch(`${api.url}/api/webhooks/${id}/deliveries${query}`, { headers });
    return { status: response.status, body: await response.json() };
  }

  it.each([
    [
      { error: 'dns', reason: 'connecting' },
      { error: 'host', reason: null },
    ],
    [
      { error: 'forbidden-address', reason: null },
      { error: 'host', reason: null },
    ],
    [
      { error: 'tls', reason: 'not-tls' },
      { error: 'tls', reason: 'not-tls' },
    ],
    [{ error: null }, { error: null }],
  ])('shows %j as %j: nobody learns which names our network has', async (failure, shown) => {
    const attempt = { at: new Date(NOW).toISOString(), status: null, durationMs: 1, version: 1 };
    const about = { id: 'msg_1', webhookId: 1, eventId: 'pay-1', eventType: 'cash_in', firstAt: NOW };
    const wait = { nextAttemptAt: null, waitingFor: null } as const;
    const delivery = { ...about, ...wait, outcome: 'retrying', held: false, endedBy: null } as const;
    page = { deliveries: [{ ...delivery, attempts: [{ ...attempt, ...failure }] }], next: null, completeSince: null };
    const { body } = await get('');
    expect(body).toMatchObject({ deliveries: [{ attempts: [{ ...attempt, ...shown }] }] });
  });

  const filters = { eventType: null, eventId: null, status: null, errors: null };
  const none = { before: null, outcome: null, held: null, from: null, to: null, ...filters };

  it.each([
    ['', { ...none, limit: 50 }],
    [`?before=${CURSOR}`, { ...none, limit: 50, before: { firstAt: NOW, id: 'msg_1', payment: '' } }],
    ['?limit=1', { ...none, limit: 1 }],
    ['?limit=200', { ...none, limit: 200 }],
    ['?outcome=exhausted&limit=7', { ...none, outcome: 'exhausted', limit: 7 }],
    ['?held=true', { ...none, limit: 50, held: true }],
    ['?from=2026-11-21T09:00:00Z', { ...none, limit: 50, from: NOW }],
    ['?from=2026-11-21T09:00:00.125Z&to=2026-11-22', { ...none, limit: 50, from: NOW + 125, to: NOW + 54_000_000 }],
    ['?to=2026-11-21T10:00:00%2B01:00', { ...none, limit: 50, to: NOW }],
    ['?to=2026-11-21T10:00:00+01:00', { ...none, limit: 50, to: NOW }],
    ['?from=2026-11-21T09:00Z&to=2026-11-21T09:00Z', { ...none, limit: 50, from: NOW, to: NOW }],
    ['?offset=5&page=x&limit=3&%zz=%', { ...none, limit: 3 }],
  ])('"%s" is asked of the view', async (query, expected) => {
    expect(await get(query)).toEqual({ status: 200, body: { deliveries: [], next: null, completeSince: null } });
    expect(asked).toEqual([{ webhookId: 1, ...expected }]);
  });

  it('the next of a page, whatever it is, is what before takes', async () => {
    const places = [
      { firstAt: NOW, id: 'msg_1', payment: `payment-events/0/7@${NOW}` },
      { firstAt: 0, id: '!', payment: '' },
      { firstAt: Number.MAX_SAFE_INTEGER, id: `${'~'.repeat(126)}.5`, payment: `${'t'.repeat(249)}/9/9@-1` },
    ];
    for (const next of places) {
      page = { deliveries: [], next, completeSince: null };
      const { body } = await get('');
      expect((body as Listed).next).toMatch(/^[\w-]+$/);
      expect((await get(`?before=${(body as Listed).next}`)).status).toBe(200);
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

  it('an account that is not known is 404; a bad parameter comes before it, and a bad token before that', async () => {
    expect(await get('', 1, 7)).toEqual({
      status: 404,
      body: { success: false, message: 'account not found', code: 'account-not-found' },
    });
    expect((await get('?limit=0', 99, 7)).status).toBe(400);
    const bare = await fetch(`${api.url}/api/webhooks/99/deliveries?limit=0`);
    expect(bare.status).toBe(401);
  });
});

describe('what a page shows', () => {
  let api: RunningApi;
  let file: StoreFile;
  let broker: SqliteBroker;
  let client: Client;
  let webhookIds: readonly number[];

  beforeAll(async () => {
    api = await startApi();
    file = new StoreFile(api.dataDir);
    broker = new SqliteBroker(file);
    client = await api.account(42);
    for (const path of ['a', 'b']) await client.post({ url: `https://shop.example.com/${path}`, eventType: 'cash_in' });
    webhookIds = (await client.list()).webhooks.map(({ id }) => id);
  });
  afterAll(async () => {
    await broker.close();
    file.close();
    await api.close();
  });

  /** Of payments. */
  const offsets = new Map<string, number>();
  const logged = (webhookId: number, eventId: string, outcome: Outcome = 'delivered', accountId = 42): NewRecord => {
    const offset = offsets.get(eventId) ?? offsets.size;
    offsets.set(eventId, offset);
    const record = received(paymentRecord(), { offset, timestamp: NOW + offset });
    const delivery = newDelivery({ id: eventId, type: 'cash_in', accountId }, named(webhookId), record);
    const attempt = outcome === 'delivered' ? { ...DELIVERED, at: NOW + 5_000 } : failedWith(500);
    const next = outcome === 'retrying' ? AHEAD : null;
    return toLogRecord({ deliveries: [logEntry(delivery, outcome, loggedAttempt(attempt, 1), next)] });
  };
  const publish = (...records: readonly NewRecord[]) => broker.publish('webhooks.deliveries', records);

  async function listed(webhookId: number | undefined, query = '', as: Client = client): Promise<Listed> {
    const { status, body } = await as.send('GET', `/api/webhooks/${webhookId}/deliveries${query}`);
    expect(status).toBe(200);
    return body as unknown as Listed;
  }

  const shows = (webhookId: number | undefined, count: number) =>
    eventually(async () => (await listed(webhookId, '?limit=200')).deliveries.length === count);

  it('nothing for a webhook that was sent nothing', async () => {
    expect(await listed(webhookIds[0])).toEqual({ deliveries: [], next: null, completeSince: null });
  });

  it('the deliveries of that webhook in the shape of the contract; another account sees none of it', async () => {
    const [one = 0, two = 0] = webhookIds;
    await publish(logged(one, 'pay-1', 'retrying'), logged(two, 'pay-1'), logged(one, 'pay-x', 'delivered', 43));
    await shows(one, 1);
    expect(await listed(one)).toEqual({
      completeSince: null,
      deliveries: [
        {
          id: expect.stringMatching(/^msg_[\w-]{27}$/),
          webhookId: 1,
          eventId: 'pay-1',
          eventType: 'cash_in',
          publishedAt: '2026-11-21T09:00:00.000Z',
          outcome: 'retrying',
          held: false,
          endedBy: null,
          attempts: [{ at: '2026-11-21T09:00:00.000Z', status: 500, error: null, durationMs: 12, version: 1 }],
          nextAttemptAt: new Date(AHEAD).toISOString(),
          waitingFor: 'schedule',
        },
      ],
      next: null,
    });
    await publish(logged(one, 'pay-1'));
    const done = await eventually(async () => {
      const [delivery] = (await listed(one)).deliveries;
      return delivery?.outcome === 'delivered' && delivery;
    });
    expect(done).toMatchObject({ attempts: [{ status: 500 }, { status: 200 }], nextAttemptAt: null, waitingFor: null });
    await shows(two, 1);
    const stranger = await api.account(43);
    expect((await stranger.send('GET', `/api/webhooks/${one}/deliveries`)).status).toBe(404);
  });

  it('pages that are stable under new deliveries, and filters', async () => {
    const [, two = 0] = webhookIds;
    for (let n = 0; n < 60; n += 1) await publish(logged(two, `more-${n}`, n % 3 === 0 ? 'exhausted' : 'delivered'));
    await shows(two, 61);
    const first = await listed(two);
    expect(first.deliveries).toHaveLength(50);
    await publish(logged(two, 'newer'));
    await shows(two, 62);
    const second = await listed(two, `?before=${first.next}`);
    expect(second.next).toBeNull();
    const all = [...first.deliveries, ...second.deliveries].map(({ eventId }) => eventId);
    expect(all).toHaveLength(61);
    expect(new Set(all)).toEqual(new Set([...Array.from({ length: 60 }, (_, n) => `more-${n}`), 'pay-1']));
    const exhausted = await listed(two, '?outcome=exhausted&limit=200');
    expect(exhausted.deliveries.map(({ outcome }) => outcome)).toEqual(Array(20).fill('exhausted'));
    const future = await listed(two, `?from=${new Date(Date.now() + 60_000).toISOString()}`);
    expect(future.deliveries).toEqual([]);
    expect((await listed(two, `?to=${new Date().toISOString()}&limit=200`)).deliveries).toHaveLength(62);
  });

  it('an inactive webhook has them still, one that was removed is 404', async () => {
    const [one, two] = webhookIds;
    const headers = { 'content-type': 'application/json' };
    await client.send('PATCH', `/api/webhooks/${one}`, { headers, bytes: '{"isActive":false}' });
    expect((await listed(one)).deliveries).toHaveLength(1);
    await publish(logged(two ?? 0, 'waits', 'retrying'));
    await shows(two ?? 0, 63);
    expect((await client.send('DELETE', `/api/webhooks/${two}`)).body).toMatchObject({ cancelled: 1 });
    expect((await client.send('GET', `/api/webhooks/${two}/deliveries`)).status).toBe(404);
    const { body } = await client.send('GET', '/api/deliveries?eventId=waits');
    const ended = { outcome: 'cancelled', nextAttemptAt: null, endedBy: 'webhook-removed' };
    expect(body).toMatchObject({ deliveries: [ended] });
  });
});
