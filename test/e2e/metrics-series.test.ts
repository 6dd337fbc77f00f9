import { eventually } from '../support/eventually.js';
import { scrape } from '../support/scrape.js';
import { Served } from '../support/served.js';
import { addWebhook, paymentEvents, register, tokenFor } from '../support/story.js';

const served = Served.around();
const OTHERS = Array.from({ length: 20 }, (_, index) => 1_000_001 + index);

/** Registers a URL of its own, and gives the account a delivery. */
async function delivering(accountId: number, token: string): Promise<void> {
  const webhook = { url: `${served.receiver.url}/of/${accountId}`, eventType: 'cash_in' };
  expect(await addWebhook(served.service.url, token, webhook)).toBe(200);
  await served.publish(paymentEvents(accountId, 1));
}

const delivered = (count: number) =>
  eventually(async () => {
    const found = await scrape(served.service.adminUrl);
    return found.value('account_webhooks_deliveries_total', { outcome: 'delivered' }) === count && found;
  });

test('twenty more accounts, with URLs and deliveries of their own, make not one series more', async () => {
  await delivering(42, served.token);
  const before = await delivered(1);
  for (const id of OTHERS) {
    await delivering(id, await tokenFor(served.service.url, await register(served.settings, id)));
  }
  const after = await delivered(21);
  expect(new Set(served.receiver.requests.map(({ path }) => path)).size).toBe(21);
  expect(after.series).toEqual(before.series);
  expect(after.series.filter((series) => /10000\d\d|localhost|https/.test(series))).toEqual([]);
});
