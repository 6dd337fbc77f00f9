/** A retry record of another history, which gave the id of a webhook that is there to another one. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { SqliteBroker } from '../../src/adapters/sqlite/broker.js';
import { StoreFile } from '../../src/adapters/sqlite/store-file.js';
import { newDelivery, toRetryRecord } from '../../src/delivery/delivery.js';
import { eventually } from '../support/eventually.js';
import { commandLine } from '../support/in-process-cli.js';
import { type ServiceHere, serveHere } from '../support/in-process-service.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import type { Settings } from '../support/service.js';
import { addWebhook, installation, paymentEvents, publishEvents, register, tokenFor } from '../support/story.js';

const ACCOUNT = 42;
const PATIENCE = { timeout: 20_000 };

let receiver: Receiver;
let settings: Settings;
let remove: () => Promise<void>;
let service: ServiceHere;

beforeAll(async () => {
  receiver = await startReceiver({ respond: () => ({ status: receiver.requests.length > 1 ? 200 : 503 }) });
  ({ settings, remove } = await installation([receiver]));
  service = await serveHere(settings);
  const token = await tokenFor(service.url, await register(settings, ACCOUNT));
  await addWebhook(service.url, token, { url: `${receiver.url}/a`, eventType: 'cash_in' });
});

afterAll(async () => {
  await service.stop();
  await receiver.close();
  await remove();
});

async function lines(...args: string[]): Promise<Record<string, unknown>[]> {
  const { stdout, stderr, code } = await commandLine(settings, [...args, '--json']);
  if (code !== 0) throw new Error(stderr);
  return stdout.split('\n').flatMap((line) => (line ? [JSON.parse(line)] : []));
}

const webhooks = () => lines('audit', 'at', '--account', String(ACCOUNT), '--time', new Date().toISOString());
const deliveries = () => lines('deliveries', 'list', '--account', String(ACCOUNT));

async function publishToTier(webhook: { id: number; addedBy: string }): Promise<void> {
  const file = new StoreFile(String(settings.DATA_DIR));
  const broker = new SqliteBroker(file);
  const event = { id: 'earlier', type: 'cash_in', accountId: ACCOUNT } as const;
  const delivery = newDelivery(event, webhook, { key: null, value: Buffer.from('{}'), headers: [] });
  await broker.publish('webhooks.retry.200ms', [toRetryRecord({ ...delivery, step: 1 }, 0)]);
  await broker.close();
  file.close();
}

test('its own is tried again and delivered, under the event that added its webhook', async () => {
  await publishEvents(settings, paymentEvents(ACCOUNT, 1));
  await eventually(async () => (await deliveries())[0]?.outcome === 'delivered', PATIENCE);
  const [webhook] = await webhooks();
  expect(webhook?.addedBy).toMatch(/^[\da-f-]{36}$/);
  expect(await deliveries()).toMatchObject([{ webhookEvent: webhook?.addedBy, attempts: [{ status: 503 }, {}] }]);
});

test("the other history's is not sent; dead-letters list says why, and replay leaves it", async () => {
  const [webhook] = await webhooks();
  const sent = receiver.requests.length;
  await publishToTier({ id: Number(webhook?.id), addedBy: 'another-event' });
  await eventually(async () => (await lines('dead-letters', 'list')).length > 0, PATIENCE);
  const letter = { reason: 'other-history', webhookId: webhook?.id, webhookEvent: 'another-event', eventId: 'earlier' };
  expect(await lines('dead-letters', 'list')).toMatchObject([letter]);
  const { stdout } = await commandLine(settings, ['dead-letters', 'list']);
  expect(stdout).toContain(`other-history  event ${webhook?.addedBy} added webhook ${webhook?.id}; this delivery`);
  const replayed = await commandLine(settings, ['dead-letters', 'replay']);
  expect(replayed).toMatchObject({ code: 0, stdout: '0 replayed\n' });
  expect(replayed.stderr).toBe('1 not replayed: for webhooks that this event store does not have (other-history)\n');
  expect(await lines('dead-letters', 'replay', '--account', String(ACCOUNT))).toEqual([]);
  expect(receiver.requests).toHaveLength(sent);
  await eventually(async () => (await deliveries()).length === 2, PATIENCE);
  const earlier = (await deliveries()).find(({ eventId }) => eventId === 'earlier');
  expect(earlier).toMatchObject({ outcome: 'exhausted', attempts: [] });
});
