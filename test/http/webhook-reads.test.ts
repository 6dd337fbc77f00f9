/** GET /api/webhooks/{id}, and GET /api/webhooks?at=: of the account's own webhooks, now and earlier. */
import { randomBytes, randomUUID } from 'node:crypto';
import { Admission } from '../../src/http/admission.js';
import { masterKey } from '../../src/secrets/master-keys.js';
import { createSealing, headerPlace } from '../../src/secrets/sealing.js';
import { enveloped } from '../../src/webhooks/envelope.js';
import { accountStream, type WebhookAdded } from '../../src/webhooks/events.js';
import { added, CONTEXT } from '../support/generators/webhook-samples.js';
import { viewOf } from '../support/scenes/account-view.js';
import { type BareApi, type BareOptions, startBareApi } from '../support/scenes/bare-api.js';

let api: BareApi;
afterEach(() => api.close());

async function start(events: readonly WebhookAdded[], parts: BareOptions['parts'] = {}): Promise<void> {
  api = await startBareApi({ parts });
  if (events.length > 0) await api.store.append(accountStream(42), enveloped(events, CONTEXT, randomUUID), 0);
}

it('one webhook is shown as the list shows it; to another account it is as unknown as any other id', async () => {
  await start([added(1)]);
  const [listed] = (await api.client().list()).webhooks;
  expect(await api.client().send('GET', '/api/webhooks/1')).toMatchObject({ status: 200, body: { webhook: listed } });
  const [foreign, unknown] = [1, 7].map((id) => api.client(43).send('GET', `/api/webhooks/${id}`));
  expect([(await foreign)?.status, (await foreign)?.body]).toEqual([404, (await unknown)?.body]);
});

describe('the list of a time', () => {
  const at = (time: string) => api.client().send('GET', `/api/webhooks?at=${time}`);

  it('is what GET answered then', async () => {
    let now = Date.parse('2026-11-21T09:00:00.000Z');
    await start([], { now: () => new Date(now) });
    const times = [new Date(now).toISOString(), new Date(now + 1_000).toISOString()];
    now += 1_000;
    await api.client().post({ url: 'https://shop.example.com/', eventType: 'cash_in' });
    const then = await api.client().list();
    now += 1_000;
    await api.client().remove(1);
    expect((await api.client().list()).total).toBe(0);
    const answers = await Promise.all(times.map(at));
    expect(answers.map(({ body }) => body)).toEqual([{ accountId: 42, webhooks: [], total: 0 }, then]);
  });

  it('is 429 where it costs more than the account may spend', async () => {
    const changes = Array.from({ length: 200 }, (_, index) => added(index + 1));
    await start(changes, { admission: new Admission({ msPerMinute: 1, now: () => 0 }) });
    expect((await at('2026-11-04')).status).toBe(429);
  });

  it('shows a header that was sealed with a key that is gone as empty', async () => {
    const { seal } = createSealing([masterKey(Buffer.alloc(32, 9))], randomBytes);
    await start([added(7, { headers: [{ key: 'X-A', sealed: seal('v', headerPlace(42, 'X-A')) }] })]);
    expect((await at('2026-11-04')).body).toMatchObject({ webhooks: [{ id: 7, headers: { 'X-A': '' } }] });
  });
});

describe('of a webhook with deliveries', () => {
  const counts = { waiting: 4, held: 2, exhausted: 1 };
  let isCaughtUp: boolean;
  beforeEach(async () => {
    isCaughtUp = true;
    const health = { lastSuccessAt: null, lastFailure: null, failingSince: null, ...counts };
    const known = viewOf({ health: () => new Map([[7, health]]) });
    const view = Object.defineProperty({ ...known }, 'isCaughtUp', { get: () => isCaughtUp });
    await start([added(7), added(8)], { view });
  });

  const call = async (method: string, id: number) => (await api.client().send(method, `/api/webhooks/${id}`)).body;

  it('GET says how many have not arrived, and DELETE how many it ends', async () => {
    expect(await call('GET', 7)).toMatchObject({ webhook: { id: 7 }, deliveries: counts });
    expect(await call('GET', 8)).toMatchObject({ deliveries: { waiting: 0, held: 0, exhausted: 0 } });
    expect(await call('DELETE', 7)).toEqual({ success: true, message: 'webhook removed', cancelled: 4 });
    expect([42, 43].map((accountId) => api.readModel.accounts.webhookIds(accountId))).toEqual([[8], null]);
  });

  it('neither knows while the view is rebuilt, and the removal is done', async () => {
    isCaughtUp = false;
    expect(await call('GET', 7)).toMatchObject({ deliveries: null });
    expect(await call('DELETE', 7)).toEqual({ success: true, message: 'webhook removed', cancelled: null });
    expect(await call('GET', 7)).toMatchObject({ success: false });
  });

  const patch = async (id: number, isActive: boolean) => (await api.client().patch(id, { isActive })).body.message;

  it('PATCH to active reports how many deliveries are held, and how to send them', async () => {
    expect(await patch(7, false)).toBe('webhook deactivated');
    expect(await patch(7, true)).toBe('webhook activated; 2 deliveries are held: POST /api/recoveries sends them');
    expect(await patch(8, true)).toBe('webhook activated');
    isCaughtUp = false;
    expect(await patch(7, true)).toBe('webhook activated');
  });

  it('POST of an existing webhook reports it too, but not POST of a new one', async () => {
    const [{ url = '', type = '' } = {}] = (await api.client().list()).webhooks;
    const register = async (eventTypes: string[], key: string) =>
      (await api.client().post({ url, eventTypes }, { 'idempotency-key': key })).body.message;
    const held = '; 2 deliveries are held: POST /api/recoveries sends them';
    expect(await register([type], 'one')).toBe(`webhooks updated${held}`);
    expect(await register([type], 'one')).toBe(`webhooks updated${held}`);
    expect(await register(['med_created', type], 'two')).toMatch(new RegExp(`${held}$`));
    expect(await register(['refund_in'], 'three')).toBe('webhooks registered');
  });
});
