/** GET /api/webhooks/{id}, and GET /api/webhooks?at=: of the account's own webhooks, now and earlier. */
import { randomBytes, randomUUID } from 'node:crypto';
import { Admission } from '../../src/http/admission.js';
import { createDeliveryCounts } from '../../src/http/webhooks/show-webhook.js';
import { masterKey } from '../../src/secrets/master-keys.js';
import { createSealing, headerPlace } from '../../src/secrets/sealing.js';
import { enveloped } from '../../src/webhooks/envelope.js';
import { accountStream } from '../../src/webhooks/events.js';
import type { Client } from '../support/clients/api-client.js';
import { added, CONTEXT } from '../support/generators/webhook-samples.js';
import { viewOf } from '../support/scenes/account-view.js';
import { type RunningApi, startApi } from '../support/scenes/api-fixture.js';
import { type BareApi, startBareApi } from '../support/scenes/bare-api.js';

const webhook = { url: 'https://shop.example.com/a', eventType: 'cash_in', headers: [{ key: 'X-A', value: 'v' }] };

describe('of a service', () => {
  let api: RunningApi;
  let client: Client;
  let stranger: Client;
  beforeAll(async () => {
    api = await startApi();
    [client, stranger] = [await api.account(42), await api.account(43)];
  });
  afterAll(() => api.close());

  it('one webhook is shown as the list shows it; to another account it is as unknown as any other id', async () => {
    await client.post(webhook);
    const [listed] = (await client.list()).webhooks;
    const path = `/api/webhooks/${listed?.id}`;
    expect(await client.send('GET', path)).toMatchObject({ status: 200, body: { webhook: listed } });
    const unknown = await stranger.send('GET', '/api/webhooks/999999');
    const foreign = await stranger.send('GET', path);
    expect([foreign.status, foreign.body]).toEqual([404, unknown.body]);
  });

  it('the list of a time is what GET answered then, for its own account only', async () => {
    const before = new Date(Date.now() - 60_000).toISOString();
    const at = (time: string, as = client) => as.send('GET', `/api/webhooks?at=${time}`);
    await client.post({ ...webhook, eventType: 'cash_out' });
    const then = await client.list();
    const time = new Date().toISOString();
    while (new Date().toISOString() === time);
    for (const { id } of then.webhooks) await client.remove(id);
    expect((await client.list()).total).toBe(0);
    expect((await at(time)).body).toEqual(then);
    expect((await at(before)).body).toEqual({ accountId: 42, webhooks: [], total: 0 });
    expect((await at(time, stranger)).body).toEqual({ accountId: 43, webhooks: [], total: 0 });
  });

  it('a time in the future is 400 and named', async () => {
    const { status, body } = await client.send('GET', '/api/webhooks?at=2999-01-01T00:00:00Z');
    expect([status, body.errors?.map(({ field }) => field)]).toEqual([400, ['at']]);
  });
});

describe('of a long history', () => {
  let api: BareApi;
  afterEach(() => api.close());

  const get = (query: string) =>
    fetch(`${api.url}/api/webhooks${query}`, { headers: { authorization: 'Bearer caller-42' } });

  it('a reading that costs more than the account may spend is 429', async () => {
    const admission = new Admission({ msPerMinute: 1, now: () => 0 });
    api = await startBareApi({ parts: { admission } });
    const changes = Array.from({ length: 200 }, (_, index) => added(index + 1));
    await api.store.append(accountStream(42), enveloped(changes, CONTEXT, randomUUID), 0);
    expect((await get('?at=2026-11-04')).status).toBe(429);
  });

  it('a header that was sealed with a key that is gone is shown as empty', async () => {
    api = await startBareApi();
    const { seal } = createSealing([masterKey(Buffer.alloc(32, 9))], randomBytes);
    const headers = [{ key: 'X-A', sealed: seal('v', headerPlace(42, 'X-A')) }];
    await api.store.append(accountStream(42), enveloped([added(7, { headers })], CONTEXT, randomUUID), 0);
    expect(await (await get('?at=2026-11-04')).json()).toMatchObject({ webhooks: [{ id: 7, headers: { 'X-A': '' } }] });
  });
});

describe('of a webhook with deliveries', () => {
  const counts = { waiting: 4, held: 2, exhausted: 1 };
  const never = { lastSuccessAt: null, lastFailure: null, failingSince: null };
  let api: BareApi;
  let why: string | null;
  beforeEach(async () => {
    why = null;
    const health = () => new Map([[7, { ...never, ...counts }]]);
    const deliveryCounts = createDeliveryCounts({ ...viewOf({ health }), state: () => ({ why }) });
    api = await startBareApi({ parts: { deliveryCounts } });
    await api.store.append(accountStream(42), enveloped([added(7), added(8)], CONTEXT, randomUUID), 0);
  });
  afterEach(() => api.close());

  const call = async (method: string, id: number) => {
    const options = { method, headers: { authorization: 'Bearer caller-42' } };
    return (await fetch(`${api.url}/api/webhooks/${id}`, options)).json();
  };

  it('GET says how many have not arrived, and DELETE how many it ends', async () => {
    expect(await call('GET', 7)).toMatchObject({ webhook: { id: 7 }, deliveries: counts });
    expect(await call('GET', 8)).toMatchObject({ deliveries: { waiting: 0, held: 0, exhausted: 0 } });
    expect(await call('DELETE', 7)).toEqual({ success: true, message: 'webhook removed', cancelled: 4 });
    expect([42, 43].map((accountId) => api.readModel.accounts.webhookIds(accountId))).toEqual([[8], null]);
  });

  it('neither knows while the view is rebuilt, and the removal is done', async () => {
    why = '1200 records behind';
    expect(await call('GET', 7)).toMatchObject({ deliveries: null });
    expect(await call('DELETE', 7)).toEqual({ success: true, message: 'webhook removed', cancelled: null });
    expect(await call('GET', 7)).toMatchObject({ success: false });
  });
});
