/** Where a dispatcher's group starts in a payment topic is in the log. */
import { readLogRecord } from '../../src/delivery/log/log-record.js';
import { AccountFixture } from '../support/account-fixture.js';
import { eventually } from '../support/eventually.js';
import { payment } from '../support/poison.js';

let fixture: AccountFixture;
beforeEach(async () => {
  fixture = await AccountFixture.open();
});
afterEach(() => fixture.close());

test('a start is written once, before any payment was published, and not by a restart', async () => {
  const starts = async () =>
    (await fixture.installation.browse('webhooks.deliveries')).flatMap((record) => readLogRecord(record).starts);
  await fixture.installation.dispatch();
  const start = { topic: 'payment-events', partition: 0, expected: null, offset: 0 };
  expect(await starts()).toEqual([start]);
  await fixture.restart();
  await fixture.installation.dispatch();
  await fixture.installation.publish(payment('first'));
  await eventually(async () => (await fixture.installation.broker.committed('test', 'payment-events')).get(0) === 1);
  expect(await starts()).toHaveLength(1);
});
