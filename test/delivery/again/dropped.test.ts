import { toCancellation, toRequest } from '../../../src/delivery/again/request.js';
import { type Delivery, newDelivery } from '../../../src/delivery/delivery.js';
import { parsePaymentEvent } from '../../../src/payments/payment-event.js';
import { inFull } from '../../runner/thorough.js';
import { eventually } from '../../support/clocks/eventually.js';
import { testScheduler } from '../../support/clocks/test-scheduler.js';
import { deliveriesIn } from '../../support/generators/bundles.js';
import { ACCOUNT } from '../../support/generators/delivery-samples.js';
import { payment } from '../../support/generators/poison.js';
import { AccountFixture, webhookId } from '../../support/scenes/account-fixture.js';
import { detail } from '../../support/scenes/recoverable-view.js';

const TIER = 'webhooks.deferred.5s';
const REQUESTS = 'webhooks.requests';
const RESEND = { trigger: 'resend', actor: 'ana' } as const;
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
  const records = await fixture.installation.browse(TIER);
  const deliveries = records.flatMap(deliveriesIn);
  expect(deliveries).toHaveLength(count);
  const before = requests.length;
  return { sent: () => requests.slice(before).map(webhookId), deliveries, records: records.length };
}

const cancellation = ({ id, payment: place }: Delivery) =>
  toCancellation([detail(1, { id, payment: place ?? '' })], 'ana');
const isDone = async (topic: string, count: number) =>
  (await fixture.installation.broker.committed('test.retry', topic)).get(0) === count;

test('a waiting record ends in a dispatcher that starts after its cancellation, another publication is sent', async () => {
  const { sent, deliveries, records } = await waiting(2);
  const [first, second] = deliveries;
  if (!first || !second) throw new Error('two deliveries wait');
  expect(first.id).toBe(second.id);
  await fixture.installation.broker.publish(REQUESTS, [cancellation(first)]);
  await fixture.installation.dispatch(SOON);
  await eventually(async () => (await isDone(TIER, records)) && (await isDone(REQUESTS, 1)));
  expect(sent()).toEqual([second.id]);
});

/** Deliveries in the queue of a URL that has one request under way. */
async function queued(count: number) {
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const { requests } = await fixture.webhook(1, { respond: () => held.then(() => ({ status: 200 })) });
  const { installation } = fixture;
  const dispatcher = await installation.dispatch({ ...SOON, scheduler: testScheduler() });
  await installation.publish(payment('first'));
  await eventually(() => requests.length === 1);
  await installation.publish(...Array.from({ length: count }, (_, n) => payment(`evt-${n}`)));
  await eventually(() => dispatcher.state().payments.inHand === count + 1);
  const records = (await installation.browse('payment-events')).slice(1);
  const webhook = installation.accounts.webhook(ACCOUNT, 1);
  if (!webhook) throw new Error('the webhook is there');
  const deliveries = records.flatMap((record) => {
    const parsed = parsePaymentEvent(record);
    return parsed.ok ? [newDelivery(parsed.event, webhook, record)] : [];
  });
  return { dispatcher, deliveries, release, requests };
}

test('deliveries that are cancelled in the queue of their URL are not sent', async () => {
  const { deliveries, release, requests } = await queued(40);
  await fixture.installation.broker.publish(REQUESTS, deliveries.map(cancellation));
  await eventually(() => isDone(REQUESTS, 40));
  release();
  await eventually(async () => (await fixture.installation.broker.committed('test', 'payment-events')).get(0) === 41);
  expect(requests).toHaveLength(1);
});

test('deliveries that are sent again in the queue of their URL, however often, are one attempt each', async () => {
  const { dispatcher, deliveries, release, requests } = await queued(10);
  const again = Array.from({ length: 13 }, () => deliveries.map((one) => toRequest(one, RESEND))).flat();
  await fixture.installation.broker.publish(REQUESTS, again);
  // As many were in hand for a moment before the later requests had been read.
  await eventually(() => isDone(REQUESTS, 130 - deliveries.length));
  expect(dispatcher.state().retries.inHand).toBe(deliveries.length);
  release();
  await eventually(async () => (await fixture.installation.broker.committed('test', 'payment-events')).get(0) === 11);
  await eventually(() => isDone(REQUESTS, 130));
  expect(requests).toHaveLength(11);
});

test('a foreign record of the requests topic becomes a dead letter, and those behind it go on', async () => {
  const { sent, deliveries } = await waiting(1);
  const foreign = { key: null, value: Buffer.from('{}'), headers: [] };
  await fixture.installation.broker.publish(REQUESTS, [foreign, ...deliveries.map((one) => toRequest(one, RESEND))]);
  await fixture.installation.dispatch(SOON);
  await eventually(() => sent().length === 1);
  await eventually(async () => (await fixture.installation.browse('webhooks.dead-letter')).length === 1);
});

/** In full more than a dispatcher once remembered for all accounts together. */
const FLOOD = inFull(100_001, 2_001);

test('a cancellation holds, however many cancellations of another account follow it', async () => {
  const { sent, deliveries, records } = await waiting(2);
  const [first, second] = deliveries;
  if (!first || !second) throw new Error('two deliveries wait');
  const ofOther = (n: number) =>
    toCancellation([detail(n, { accountId: 43, id: `msg_other_${n}`, outcome: 'exhausted' })], 'mallory');
  await fixture.installation.broker.publish(REQUESTS, [cancellation(first)]);
  await fixture.installation.broker.publish(
    REQUESTS,
    Array.from({ length: FLOOD }, (_, n) => ofOther(n)),
  );
  // As a dispatcher that has taken all requests by the time the tier's records are due.
  const requests = {
    topics: [REQUESTS],
    group: 'test.retry',
    inFlight: 1_000,
    accept: () => ({ handle: async () => undefined }),
  };
  const taking = await fixture.installation.broker.consume(requests);
  await eventually(() => isDone(REQUESTS, 1 + FLOOD), { timeout: 120_000 });
  await taking.close();
  await fixture.installation.dispatch(SOON);
  await eventually(() => isDone(TIER, records), { timeout: 120_000 });
  expect(sent()).toEqual([second.id]);
});
