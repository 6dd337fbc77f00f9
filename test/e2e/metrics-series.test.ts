import { randomBytes, randomUUID } from 'node:crypto';
import { afterEach, expect, test } from '@jest/globals';
import { createRegistration } from '../../src/accounts/registration.js';
import { ROLES, startApp } from '../../src/composition/app.js';
import { openBackbone } from '../../src/composition/backbone.js';
import { readConfig } from '../../src/settings/read-config.js';
import { tokenFor } from '../support/api-fixture.js';
import { eventually } from '../support/eventually.js';
import { startReceiver } from '../support/receiver.js';
import { scrape } from '../support/scrape.js';
import { silentLogger } from '../support/silent-logger.js';
import { addWebhook, installation, paymentEvents } from '../support/story.js';
import { CONTEXT } from '../support/webhook-samples.js';

const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** The service in this process, accounts that are registered beside it, and a receiver that takes all. */
async function running() {
  const receiver = await startReceiver();
  cleanups.push(() => receiver.close());
  const { settings, remove } = await installation([receiver]);
  cleanups.push(remove);
  const config = readConfig({ ...settings, PORT: '0', ADMIN_PORT: '0' });
  const app = await startApp(config, ROLES, silentLogger);
  cleanups.push(() => app.close());
  const beside = await openBackbone(config, silentLogger);
  cleanups.push(() => beside.close());
  const parts = { store: beside.store, sealing: beside.sealing, randomBytes, newEventId: randomUUID };
  const registration = createRegistration({ ...parts, now: () => new Date() });
  const url = `http://127.0.0.1:${app.apiPort}`;
  return {
    receiver,
    scraped: () => scrape(`http://127.0.0.1:${app.adminPort}`),
    /** Registers an account and a URL of its own, and publishes a payment event of it. */
    async account(accountId: number) {
      const token = await tokenFor(url, await registration.register(accountId, CONTEXT));
      const webhook = { url: `${receiver.url}/of/${accountId}`, eventType: 'cash_in' };
      expect(await addWebhook(url, token, webhook)).toBe(200);
      const value = Buffer.from(paymentEvents(accountId, 1).trim());
      await beside.broker.publish('payment-events', [{ key: null, value, headers: [] }]);
    },
  };
}

test('fifty more accounts, with URLs and deliveries of their own, make not one series more', async () => {
  const { receiver, scraped, account } = await running();
  const delivered = async (count: number) => {
    const found = await scraped();
    return found.value('account_webhooks_deliveries_total', { outcome: 'delivered' }) === count && found;
  };
  await account(1);
  const before = await eventually(() => delivered(1));
  for (let accountId = 1_000_001; accountId <= 1_000_050; accountId += 1) await account(accountId);
  const after = await eventually(() => delivered(51));
  expect(new Set(receiver.requests.map(({ path }) => path)).size).toBe(51);
  expect(after.series).toEqual(before.series);
  expect(after.series.filter((series) => /10000\d\d|localhost|https/.test(series))).toEqual([]);
});
