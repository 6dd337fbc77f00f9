/** A wait that no tier has: its record goes from tier to tier, without an attempt, a step or an entry. */
import { waitOf } from '../../../src/delivery/retry/bundle.js';
import { eventually } from '../../support/clocks/eventually.js';
import { deliveriesIn, retryRecord } from '../../support/generators/bundles.js';
import { ACCOUNT, deliveryTo } from '../../support/generators/delivery-samples.js';
import { AccountFixture } from '../../support/scenes/account-fixture.js';

const MINUTE = 60_000;
const SCHEDULE = [{ text: '1h', ms: 60 * MINUTE }];
const FIRST = 'webhooks.deferred.5s';

let fixture: AccountFixture;
let requests: readonly unknown[];
beforeEach(async () => {
  fixture = await AccountFixture.open();
  ({ requests } = await fixture.webhook(1));
  await fixture.installation.dispatch({ schedule: SCHEDULE });
});
afterEach(() => fixture.close());

/** A record that is due now in the first tier, and has so much left. */
async function arrives(moreMs: number): Promise<void> {
  const webhookEvent = fixture.installation.accounts.webhook(ACCOUNT, 1)?.addedBy ?? '';
  const delivery = deliveryTo(1, { webhookEvent, attempts: 1, step: 1, usedMs: 7 });
  await fixture.installation.broker.publish(FIRST, [retryRecord(delivery, Date.now(), moreMs)]);
}

test.each([
  ['6 min has 5 of them in the next tier', 6 * MINUTE, 'deferred.5m', MINUTE],
  ['a forged time of days has the longest delay', 1_000 * 60 * MINUTE, 'retry.1h', 0],
])('what has left %s', async (_, moreMs, tier, left) => {
  const before = Date.now();
  await arrives(moreMs);
  const [record] = await eventually(async () => {
    const records = await fixture.installation.browse(`webhooks.${tier}`);
    return records.length > 0 && records;
  });
  if (!record) throw new Error('it waits');
  const wait = waitOf(record);
  expect(wait.moreMs).toBeGreaterThan(left - 10_000);
  expect(wait.moreMs).toBeLessThanOrEqual(left);
  expect(wait.due).toBeGreaterThan(before);
  // What it counts was counted when its wait began.
  expect(deliveriesIn(record)).toMatchObject([{ attempts: 1, step: 1, deferrals: 0, usedMs: 7 }]);
  expect(requests).toEqual([]);
  expect(await fixture.installation.deliveries(ACCOUNT)).toEqual([]);
});

test('a wait that is over is followed by its attempt', async () => {
  await arrives(0);
  await eventually(() => requests.length === 1);
});
