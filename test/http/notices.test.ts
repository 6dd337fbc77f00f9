import { accountStream } from '../../src/webhooks/events.js';
import { type BareApi, startBareApi } from '../support/scenes/bare-api.js';

const SECRET = 'planted-header-value';
const target = { url: 'https://Alerts.example.com/n', headers: [{ key: 'X-Key', value: SECRET }] };

let api: BareApi;
beforeEach(async () => {
  api = await startBareApi();
});
afterEach(() => api.close());

const notices = (method: string, json?: object, caller = 42) =>
  api.client(caller).send(method, '/api/notices', { json });

async function history(): Promise<string[]> {
  const events: string[] = [];
  for await (const { type, data } of api.store.read(accountStream(42))) events.push(`${type} ${JSON.stringify(data)}`);
  return events;
}

describe('the notice URL', () => {
  it('is null until it is set, and after it was removed; its header values are sealed', async () => {
    const none = { status: 200, body: { url: null, headers: {} } };
    const done = { status: 200, body: { success: true } };
    expect(await notices('GET')).toMatchObject(none);
    for (const _ of ['set', 'set as it is']) expect(await notices('PUT', target)).toMatchObject(done);
    expect((await notices('GET')).body).toEqual({ url: target.url, headers: { 'X-Key': SECRET } });
    expect(await notices('DELETE')).toMatchObject(done);
    expect(await notices('GET')).toMatchObject(none);
    const types = (await history()).map((event) => event.split(' ')[0]);
    expect(types).toEqual(['AccountRegistered', 'NoticesSet', 'NoticesRemoved']);
    expect((await history()).join()).not.toContain(SECRET);
  });

  it.each([
    ['url', { url: 7 }],
    ['headers[0].key', { ...target, headers: [{ key: 'webhook-id', value: 'x' }] }],
  ])('is refused with the field that is wrong: %s', async (field, body) => {
    expect(await notices('PUT', body)).toMatchObject({ status: 400, body: { errors: [{ field }] } });
    expect(await history()).toHaveLength(1);
  });
});
