/** Deliveries that wait in one record: each is cancelled, ended and sent by itself. */
import { toCancellation, toRequest } from '../../../src/delivery/again/request.js';
import { type Delivery, newDelivery } from '../../../src/delivery/delivery.js';
import { parsePaymentEvent } from '../../../src/payments/payment-event.js';
import { eventually } from '../../support/clocks/eventually.js';
import { bundleOf } from '../../support/generators/bundles.js';
import { ACCOUNT } from '../../support/generators/delivery-samples.js';
import { payment } from '../../support/generators/poison.js';
import { AccountFixture, webhookId } from '../../support/scenes/account-fixture.js';
import { detail } from '../../support/scenes/recoverable-view.js';
import type { Receiver } from '../../support/servers/receiver.js';

const TIER = 'webhooks.deferred.5s';
const REQUESTS = 'webhooks.requests';
const COUNT = 5;

let fixture: AccountFixture;
let receiver: Receiver;
beforeEach(async () => {
  fixture = await AccountFixture.open();
  receiver = await fixture.webhook(1);
});
afterEach(() => fixture.close());

/** Deliveries in a bundle that is due, of payments that are done. */
async function bundled(): Promise<readonly Delivery[]> {
  const { installation } = fixture;
  const webhook = installation.accounts.webhook(ACCOUNT, 1);
  if (!webhook) throw new Error('the webhook exists');
  await installation.publish(...Array.from({ length: COUNT }, (_, n) => payment(`evt-${n}`)));
  const done = {
    topics: ['payment-events'],
    group: 'test',
    inFlight: 100,
    accept: () => ({ handle: async () => undefined }),
  };
  const consumer = await installation.broker.consume(done);
  await eventually(() => consumer.state().partitions.every(({ behind }) => behind === 0));
  await consumer.close();
  const [first, ...others] = (await installation.browse('payment-events')).flatMap((record) => {
    const parsed = parsePaymentEvent(record);
    return parsed.ok ? [newDelivery(parsed.event, webhook, record)] : [];
  });
  if (!first) throw new Error('a delivery waits');
  await installation.broker.publish(TIER, [bundleOf([first, ...others], Date.now())]);
  return [first, ...others];
}

const isDone = async () => (await fixture.installation.broker.committed('test.retry', TIER)).get(0) === 1;
const sent = () => receiver.requests.map(webhookId).sort();
const ids = (deliveries: readonly Delivery[]) => deliveries.map(({ id }) => id).sort();
const outcomes = async () => (await fixture.installation.deliveries(ACCOUNT)).map(({ outcome }) => outcome);

test('all are sent, once each, with one record', async () => {
  const deliveries = await bundled();
  await fixture.installation.dispatch();
  await eventually(isDone);
  expect(sent()).toEqual(ids(deliveries));
  expect(await outcomes()).toEqual(Array(COUNT).fill('delivered'));
});

test('one that was cancelled is not sent, and the others are', async () => {
  const deliveries = await bundled();
  const { id = '', payment: place } = deliveries[2] ?? {};
  await fixture.installation.broker.publish(REQUESTS, [
    toCancellation([detail(1, { id, payment: place ?? '' })], 'ana'),
  ]);
  await fixture.installation.dispatch();
  await eventually(isDone);
  expect(sent()).toEqual(ids(deliveries.filter((one) => one.id !== id)));
});

test('one that was sent again is sent once, by its request', async () => {
  const deliveries = await bundled();
  const again = deliveries.slice(1, 2).map((one) => toRequest(one, { trigger: 'resend', actor: 'ana' }));
  await fixture.installation.broker.publish(REQUESTS, again);
  await fixture.installation.dispatch();
  await eventually(async () => (await isDone()) && receiver.requests.length >= COUNT);
  expect(sent()).toEqual(ids(deliveries));
});

test('none is sent to a webhook that was removed: each is cancelled', async () => {
  await bundled();
  const at = new Date().toISOString();
  const { kind } = await fixture.installation.handleCommand({ type: 'RemoveWebhook', webhookId: 1, at });
  expect(kind).toBe('accepted');
  await fixture.installation.dispatch();
  await eventually(isDone);
  expect(sent()).toEqual([]);
  expect(await outcomes()).toEqual(Array(COUNT).fill('cancelled'));
});

test('a webhook that moved to another URL gets all of them there', async () => {
  const other = await fixture.webhook(2);
  const deliveries = await bundled();
  const url = `${other.url}/moved`;
  const to = { url, endpoint: url, headers: [], isHeldBy: () => false, at: new Date().toISOString() };
  const { kind } = await fixture.installation.handleCommand({ type: 'UpdateWebhook', webhookId: 1, ...to });
  expect(kind).toBe('accepted');
  await fixture.installation.dispatch();
  await eventually(isDone);
  expect([sent(), other.requests.map(webhookId).sort()]).toEqual([[], ids(deliveries)]);
});
