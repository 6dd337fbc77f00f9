/** What is one change of several webhooks: all of them, or none. */
import type { Client } from '../support/clients/api-client.js';
import { accountForEachTest } from '../support/scenes/api-fixture.js';

const URL = 'https://shop.example.com/hooks';

let client: Client;

accountForEachTest((own) => {
  client = own;
});

const types = async () => (await client.list()).webhooks.map(({ type, url }) => `${type} ${url}`);
const move = (json: object) => client.send('POST', '/api/webhooks/move', { json });

describe('a registration for several types', () => {
  const headers = [{ key: 'X-Key', value: 'v' }];
  const asked = { url: URL, eventTypes: ['cash_out', 'cash_in'], headers };

  it('answers each webhook as the list shows it, in the order asked, and is repeated by its key', async () => {
    const first = await client.post(asked, { 'idempotency-key': 'k' });
    const { webhooks } = await client.list();
    expect(first).toMatchObject({ status: 200, body: { success: true, message: 'webhooks registered', webhooks } });
    expect(first.body).not.toHaveProperty('webhook');
    expect(await types()).toEqual([`cash_out ${URL}`, `cash_in ${URL}`]);
    const again = await client.post(asked, { 'idempotency-key': 'k' });
    expect([again.body, again.headers.get('idempotent-replayed')]).toEqual([first.body, 'true']);
    for (const _ of ['appended', 'replayed'])
      expect(await client.post(asked, { 'idempotency-key': 'unchanged' })).toMatchObject({ body: { webhooks } });
    expect((await client.list()).webhooks).toEqual(webhooks);
  });

  it('registers none where one type is full, and names it', async () => {
    for (const n of [1, 2, 3]) await client.post({ url: `${URL}/${n}`, eventType: 'cash_in' });
    const field = 'eventTypes[1]';
    expect(await client.post(asked)).toMatchObject({ status: 400, body: { errors: [{ field }] } });
    expect(await types()).toHaveLength(3);
  });

  it.each([
    ['eventTypes[0]', { eventTypes: ['cash'] }],
    ['eventTypes', { eventTypes: 'cash_in' }],
    ['eventTypes', { eventTypes: null }],
    ['eventTypes', { eventTypes: ['cash_in'], eventType: 'cash_out' }],
    ['eventType', {}],
  ])('is refused with the field that is wrong: %s of %j', async (field, body) => {
    expect(await client.post({ url: URL, ...body })).toMatchObject({ status: 400, body: { errors: [{ field }] } });
    expect(await types()).toEqual([]);
  });
});

describe('a move', () => {
  beforeEach(async () => {
    await client.post({ url: URL, eventTypes: ['cash_in', 'cash_out'], headers: [{ key: 'X-Key', value: 'kept' }] });
    await client.post({ url: `${URL}/other`, eventType: 'cash_in' });
  });

  it('gives every webhook of the URL the other one, whatever its spelling, and keeps ids and headers', async () => {
    const [one, two, other] = (await client.list()).webhooks;
    const to = 'https://Shop.example.com/new';
    const answer = { success: true, message: '2 webhooks moved', moved: 2 };
    expect(await move({ from: 'HTTPS://SHOP.example.com:443/hooks', to })).toMatchObject({ status: 200, body: answer });
    const movedAt = expect.any(String);
    expect((await client.list()).webhooks).toEqual([{ ...one, url: to, movedAt }, { ...two, url: to, movedAt }, other]);
    expect(await move({ from: to, to })).toMatchObject({ status: 200, body: { moved: 0 } });
    expect(await move({ from: URL, to })).toMatchObject({ status: 404, body: { message: 'webhook not found' } });
  });

  it.each([
    ['to', { from: URL, to: 'http://shop.example.com' }],
    ['to', { from: URL, to: `${URL}/other` }],
    ['to', { from: URL }],
    ['from', { from: 7, to: URL }],
  ])('moves none where a field is refused: %s of %j', async (field, body) => {
    const before = await types();
    const message = expect.stringMatching(`^${field} `);
    expect(await move(body)).toMatchObject({ status: 400, body: { errors: [{ field, message }] } });
    expect(await types()).toEqual(before);
  });
});
