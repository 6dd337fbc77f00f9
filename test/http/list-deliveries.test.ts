/** GET /api/deliveries. What it shares with a webhook's list is in list-webhook-deliveries.test.ts. */
import { SqliteBroker } from '../../src/adapters/sqlite/broker.js';
import { StoreFile } from '../../src/adapters/sqlite/store-file.js';
import { newDelivery } from '../../src/delivery/delivery.js';
import { logEntry, loggedAttempt } from '../../src/delivery/log/log-record.js';
import type { DeliveriesQuery } from '../../src/ports/deliveries-view.js';
import type { Client } from '../support/clients/api-client.js';
import { eventually } from '../support/eventually.js';
import { DELIVERED, failedWith, NOW, named, paymentRecord, received } from '../support/generators/delivery-samples.js';
import { toLogRecord } from '../support/generators/log-records.js';
import { viewOf } from '../support/scenes/account-view.js';
import { startApi } from '../support/scenes/api-fixture.js';
import { type BareApi, startBareApi } from '../support/scenes/bare-api.js';

describe('what a page is asked for', () => {
  let api: BareApi;
  let asked: DeliveriesQuery[];
  beforeEach(async () => {
    asked = [];
    const page = (query: DeliveriesQuery) => {
      asked.push(query);
      return { deliveries: [], next: null, completeSince: null };
    };
    api = await startBareApi({ parts: { view: viewOf({ page }) } });
  });
  afterEach(() => api.close());

  async function get(query: string, caller = 42) {
    const headers = { authorization: `Bearer caller-${caller}` };
    const response = await fetch(`${api.url}/api/deliveries${query}`, { headers });
    return { status: response.status, body: (await response.json()) as { errors: { field: string }[] } };
  }

  const any = { webhookId: null, eventType: null, eventId: null, status: null, errors: null };
  const all = { limit: 50, before: null, outcome: null, held: null, from: null, to: null, ...any };

  it.each([
    ['', {}],
    ['?webhookId=7&eventType=med_created', { webhookId: 7, eventType: 'med_created' }],
    ['?eventId=pay%2F1%20x', { eventId: 'pay/1 x' }],
    ['?status=4xx&error=timeout', { status: '4xx', errors: ['timeout'] }],
    ['?status=none&limit=3&outcome=exhausted', { status: 'none', limit: 3, outcome: 'exhausted' }],
    ['?held=true', { held: true }],
    ['?from=2026-02-28t24:00:00z', { from: Date.UTC(2026, 2, 1) }],
    ['?to=2028-02-29T00:00:00,5-03:00', { to: Date.UTC(2028, 1, 29, 3, 0, 0, 500) }],
    ['?held=false&outcome=exhausted', { held: false, outcome: 'exhausted' }],
    ['?error=host', { errors: ['dns', 'forbidden-address'] }],
  ])('"%s" is asked of the view', async (query, expected) => {
    expect(await get(query)).toEqual({ status: 200, body: { deliveries: [], next: null, completeSince: null } });
    expect(asked).toEqual([{ ...all, ...expected }]);
  });

  it.each(['dns', 'forbidden-address'])('error=%s finds nothing: that would tell which names we have', async (code) => {
    await get(`?error=${code}`);
    expect(asked).toEqual([{ ...all, errors: [] }]);
  });
});

it('shows the deliveries of all webhooks of the account, and of no other account', async () => {
  const api = await startApi();
  const file = new StoreFile(api.dataDir);
  const broker = new SqliteBroker(file);
  try {
    const [client, stranger] = [await api.account(42), await api.account(43)];
    for (const path of ['a', 'b']) await client.post({ url: `https://shop.example.com/${path}`, eventType: 'cash_in' });
    await stranger.post({ url: 'https://shop.example.com/c', eventType: 'cash_in' });
    const [one = 0, two = 0] = (await client.list()).webhooks.map(({ id }) => id);
    const [theirs = 0] = (await stranger.list()).webhooks.map(({ id }) => id);
    const logged = (webhookId: number, offset: number, timestamp = NOW + offset, accountId = 42) => {
      const record = received(paymentRecord(), { offset, timestamp });
      const event = { id: `pay-${offset}`, type: 'cash_in', accountId } as const;
      const delivery = newDelivery(event, named(webhookId), record);
      const isDelivered = webhookId === one;
      const attempt = loggedAttempt(isDelivered ? DELIVERED : failedWith(503), 1);
      return logEntry(delivery, isDelivered ? 'delivered' : 'exhausted', attempt, null);
    };
    const held = { ...logged(two, 2), held: true } as const;
    const own = [logged(one, 1), logged(two, 1), held, logged(one, 3, -1)];
    await broker.publish('webhooks.deliveries', [toLogRecord({ deliveries: [...own, logged(theirs, 9, NOW, 43)] })]);
    const shown = async (query = '', as: Client = client) => {
      const { status, body } = await as.send('GET', `/api/deliveries${query}`);
      expect(status).toBe(200);
      return (body as unknown as { deliveries: { webhookId: number; eventId: string }[] }).deliveries;
    };
    const rows = await eventually(async () => {
      const found = await shown();
      return found.length === 4 && found;
    });
    expect(rows.map(({ eventId }) => eventId)).toEqual(['pay-2', 'pay-1', 'pay-1', 'pay-3']);
    expect(new Set(rows.slice(1, 3).map(({ webhookId }) => webhookId))).toEqual(new Set([one, two]));
    expect(rows[0]).toEqual({
      id: expect.stringMatching(/^msg_/),
      eventId: 'pay-2',
      outcome: 'exhausted',
      held: true,
      endedBy: null,
      attempts: [{ at: new Date(NOW).toISOString(), status: 503, error: null, durationMs: 12, version: 1 }],
      nextAttemptAt: null,
      waitingFor: null,
      webhookId: two,
      eventType: 'cash_in',
      publishedAt: new Date(NOW + 2).toISOString(),
    });
    expect(rows.at(-1)).toMatchObject({ eventId: 'pay-3', publishedAt: null });
    expect(await shown('?eventId=pay-1&status=5xx')).toMatchObject([{ webhookId: two }]);
    expect(await shown('', stranger)).toMatchObject([{ webhookId: theirs, eventId: 'pay-9' }]);
    for (const query of [`?webhookId=${one}`, '?eventId=pay-1']) expect(await shown(query, stranger)).toEqual([]);
  } finally {
    await broker.close();
    file.close();
    await api.close();
  }
});
