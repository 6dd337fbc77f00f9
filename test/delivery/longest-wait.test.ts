/** A retry record that names a time far away: written while a clock was ahead, or forged. It holds its tier no longer than its delay. */
import { eventually } from '../support/clocks/eventually.js';
import { retryRecord } from '../support/generators/bundles.js';
import { ACCOUNT, deliveryTo } from '../support/generators/delivery-samples.js';
import { payment } from '../support/generators/poison.js';
import { AccountFixture, webhookId } from '../support/scenes/account-fixture.js';

const TIER = { text: '50ms', ms: 50 };
const FAR = Date.UTC(2100, 0);

let fixture: AccountFixture;
beforeEach(async () => {
  fixture = await AccountFixture.open();
});
afterEach(() => fixture.close());

test('it is tried when its tier is over, and so are those behind it', async () => {
  const { requests } = await fixture.webhook(1);
  const { installation } = fixture;
  const webhookEvent = String(installation.accounts.webhook(ACCOUNT, 1)?.addedBy);
  const retry = (id: string, due: number) => {
    const event = { id, eventId: id, webhookEvent, attempts: 1, step: 1 };
    const record = { key: null, value: Buffer.from(payment(id)), headers: [] };
    return retryRecord(deliveryTo(1, { ...event, record }), due);
  };
  await installation.broker.publish(`webhooks.retry.${TIER.text}`, [retry('far', FAR), retry('behind', 0)]);
  await installation.dispatch({ schedule: [TIER] });
  await eventually(() => requests.length === 2);
  // Sent at once: which of them arrives first is not promised.
  expect(requests.map(webhookId).sort()).toEqual(['behind', 'far']);
});
