/** A retry record of another history, which gave the id of a webhook that is there to another one. */
import { SqliteBroker } from '../../src/adapters/sqlite/broker.js';
import { StoreFile } from '../../src/adapters/sqlite/store-file.js';
import { newDelivery, toRetryRecord } from '../../src/delivery/delivery.js';
import { eventually } from '../support/eventually.js';
import { Served } from '../support/served.js';
import { paymentEvents } from '../support/story.js';

const OF_ACCOUNT = ['--account', '42'];
const PATIENCE = { timeout: 20_000 };

const served: Served = Served.around({
  respond: () => ({ status: served.receiver.requests.length > 1 ? 200 : 503 }),
});
beforeAll(() => served.addWebhook('/a'));

const lines = (...args: readonly string[]) => served.lines(...args);
const webhooks = () => lines('audit', 'at', ...OF_ACCOUNT, '--time', new Date().toISOString());
const deliveries = () => lines('deliveries', 'list', ...OF_ACCOUNT);

async function publishToTier(webhook: { id: number; addedBy: string }): Promise<void> {
  const file = new StoreFile(String(served.settings.DATA_DIR));
  const broker = new SqliteBroker(file);
  const event = { id: 'earlier', type: 'cash_in', accountId: 42 } as const;
  const delivery = newDelivery(event, webhook, { key: null, value: Buffer.from('{}'), headers: [] });
  await broker.publish('webhooks.retry.200ms', [toRetryRecord({ ...delivery, step: 1 }, 0)]);
  await broker.close();
  file.close();
}

test('its own is tried again and delivered, under the event that added its webhook', async () => {
  await served.publish(paymentEvents(42, 1));
  await eventually(async () => (await deliveries())[0]?.outcome === 'delivered', PATIENCE);
  const [webhook] = await webhooks();
  expect(webhook?.addedBy).toMatch(/^[\da-f-]{36}$/);
  expect(await deliveries()).toMatchObject([{ webhookEvent: webhook?.addedBy, attempts: [{ status: 503 }, {}] }]);
});

test("the other history's is not sent; dead-letters list says why, and replay leaves it", async () => {
  const [webhook] = await webhooks();
  const sent = served.receiver.requests.length;
  await publishToTier({ id: Number(webhook?.id), addedBy: 'another-event' });
  await eventually(async () => (await lines('dead-letters', 'list')).length > 0, PATIENCE);
  const letter = { reason: 'other-history', webhookId: webhook?.id, webhookEvent: 'another-event', eventId: 'earlier' };
  expect(await lines('dead-letters', 'list')).toMatchObject([letter]);
  const { stdout } = await served.command('dead-letters', 'list');
  expect(stdout).toContain(`other-history  event ${webhook?.addedBy} added webhook ${webhook?.id}; this delivery`);
  const replayed = await served.command('dead-letters', 'replay');
  expect(replayed).toMatchObject({ code: 0, stdout: '0 replayed\n' });
  expect(replayed.stderr).toBe('1 not replayed: for webhooks that this event store does not have (other-history)\n');
  expect(await lines('dead-letters', 'replay', ...OF_ACCOUNT)).toEqual([]);
  expect(served.receiver.requests).toHaveLength(sent);
  await eventually(async () => (await deliveries()).length === 2, PATIENCE);
  const earlier = (await deliveries()).find(({ eventId }) => eventId === 'earlier');
  expect(earlier).toMatchObject({ outcome: 'exhausted', attempts: [] });
});
