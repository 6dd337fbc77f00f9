import { toMark } from '../../../src/delivery/again/superseded.js';
import { fromRetryRecord } from '../../../src/delivery/delivery.js';
import { AccountFixture, webhookId } from '../../support/account-fixture.js';
import { eventually } from '../../support/eventually.js';
import { payment } from '../../support/poison.js';

const TIER = 'webhooks.retry.7ms';
const SOON = { schedule: [{ text: '7ms', ms: 7 }] };

let fixture: AccountFixture;
beforeEach(async () => {
  fixture = await AccountFixture.open();
});
afterEach(() => fixture.close());

/** Deliveries that wait in a tier which no dispatcher reads. */
async function waiting(count: number) {
  let hangs = true;
  const { requests } = await fixture.webhook(1, { respond: () => (hangs ? 'hang' : { status: 200 }) });
  const dispatcher = await fixture.installation.dispatch(SOON);
  await fixture.installation.publish(...Array(count).fill(payment('evt')));
  await eventually(() => dispatcher.state().payments.inHand === count && requests.length > 0);
  await fixture.restart();
  hangs = false;
  const deliveries = (await fixture.installation.browse(TIER)).flatMap((record) => fromRetryRecord(record) ?? []);
  expect(deliveries).toHaveLength(count);
  const before = requests.length;
  return { sent: () => requests.slice(before).map(webhookId), deliveries };
}

test('a waiting record is dropped by a dispatcher that starts after its mark, another publication is sent', async () => {
  const { sent, deliveries } = await waiting(2);
  const [first, second] = deliveries;
  if (!first || !second) throw new Error('two deliveries wait');
  expect(first.id).toBe(second.id);
  await fixture.installation.broker.publish('webhooks.superseded', [toMark(first)]);
  await fixture.installation.dispatch(SOON);
  await eventually(async () => (await fixture.installation.broker.committed('test.retry', TIER)).get(0) === 2);
  expect(sent()).toEqual([second.id]);
});

test('a record of a higher turn than the mark is sent', async () => {
  const { sent, deliveries } = await waiting(1);
  const marks = deliveries.map((delivery) => toMark({ ...delivery, turn: delivery.turn - 1 }));
  await fixture.installation.broker.publish('webhooks.superseded', marks);
  await fixture.installation.dispatch(SOON);
  await eventually(() => sent().length === 1);
});
