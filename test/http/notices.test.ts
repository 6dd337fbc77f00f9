import { createDeliveryCounts, createHeldDeliveries } from '../../src/http/webhooks/show-webhook.js';
import { accountStream } from '../../src/webhooks/events.js';
import { viewOf } from '../support/account-view.js';
import { type BareApi, startBareApi } from '../support/bare-api.js';

const SECRET = 'planted-header-value';
const target = { url: 'https://Alerts.example.com/n', headers: [{ key: 'X-Key', value: SECRET }] };

let api: BareApi;
let held: number;
beforeEach(async () => {
  held = 0;
  const never = { lastSuccessAt: null, lastFailure: null, failingSince: null };
  const health = () => new Map([[1, { ...never, waiting: 0, held, exhausted: 0 }]]);
  const heldDeliveries = createHeldDeliveries(createDeliveryCounts(viewOf({ health })));
  api = await startBareApi({ parts: { heldDeliveries } });
});
afterEach(() => api.close());

async function ask(method: string, path: string, body?: object, caller = 42) {
  const headers = { authorization: `Bearer caller-${caller}`, 'content-type': 'application/json' };
  const response = await fetch(`${api.url}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const notices = (method: string, body?: object, caller?: number) => ask(method, '/api/notices', body, caller);

async function history(): Promise<string[]> {
  const events: string[] = [];
  for await (const { type, data } of api.store.read(accountStream(42))) events.push(`${type} ${JSON.stringify(data)}`);
  return events;
}

describe('the notice URL', () => {
  it('is null until it is set, and after it was removed', async () => {
    const none = { status: 200, body: { url: null, headers: {} } };
    expect(await notices('GET')).toEqual(none);
    expect(await notices('PUT', target)).toEqual({ status: 200, body: { success: true, message: expect.anything() } });
    expect(await notices('GET')).toEqual({ status: 200, body: { url: target.url, headers: { 'X-Key': SECRET } } });
    expect(await notices('DELETE')).toMatchObject({ status: 200, body: { success: true } });
    expect(await notices('GET')).toEqual(none);
    expect((await history()).map((event) => event.split(' ')[0])).toEqual([
      ...['AccountRegistered', 'NoticesSet', 'NoticesRemoved'],
    ]);
  });

  it('set again as it is changes nothing', async () => {
    await notices('PUT', target);
    await notices('PUT', target);
    expect(await history()).toHaveLength(2);
  });

  it('has its header values sealed', async () => {
    await notices('PUT', target);
    expect((await history()).join()).not.toContain(SECRET);
  });

  it("belongs to its account alone: another account's token gets a 404", async () => {
    await notices('PUT', target);
    for (const [method, body] of [['GET'], ['PUT', target], ['DELETE']] as const) {
      expect(await notices(method, body, 7)).toMatchObject({ status: 404 });
    }
    expect(await notices('GET')).toMatchObject({ body: { url: target.url } });
  });

  it.each([
    ['url', {}],
    ['url', { url: 7 }],
    ['headers[0].key', { ...target, headers: [{ key: 'webhook-id', value: 'x' }] }],
    ['headers[0].value', { ...target, headers: [{ key: 'X-A', value: 'a\nb' }] }],
  ])('is refused with the field that is wrong: %s', async (field, body) => {
    expect(await notices('PUT', body)).toMatchObject({ status: 400, body: { errors: [{ field }] } });
    expect(await history()).toHaveLength(1);
  });
});

describe('the answer to an activation', () => {
  const webhook = { url: 'https://shop.example.com/1', eventType: 'cash_in' };
  const message = async (answer: ReturnType<typeof ask>) => (await answer).body.message;

  it('says how many deliveries are held, and how to send them', async () => {
    expect(await message(ask('POST', '/api/webhooks', webhook))).toBe('webhook registered');
    held = 12;
    expect(await message(ask('PATCH', '/api/webhooks/1', { isActive: false }))).toBe('webhook deactivated');
    const recover = '12 deliveries are held: POST /api/webhooks/1/recover sends them';
    expect(await message(ask('PATCH', '/api/webhooks/1', { isActive: true }))).toBe(`webhook activated; ${recover}`);
    await ask('PATCH', '/api/webhooks/1', { isActive: false });
    expect(await message(ask('POST', '/api/webhooks', webhook))).toBe(`webhook updated; ${recover}`);
  });

  it('says nothing of it where none is held, or nothing was activated', async () => {
    await ask('POST', '/api/webhooks', webhook);
    expect(await message(ask('PATCH', '/api/webhooks/1', { isActive: true }))).toBe('webhook activated');
    held = 1;
    expect(await message(ask('POST', '/api/webhooks', { ...webhook, headers: target.headers }))).toBe(
      'webhook updated',
    );
  });
});
