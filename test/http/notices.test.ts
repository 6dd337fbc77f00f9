import { accountStream } from '../../src/webhooks/events.js';
import { type BareApi, startBareApi } from '../support/scenes/bare-api.js';

const SECRET = 'planted-header-value';
const target = { url: 'https://Alerts.example.com/n', headers: [{ key: 'X-Key', value: SECRET }] };

let api: BareApi;
beforeEach(async () => {
  api = await startBareApi();
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
