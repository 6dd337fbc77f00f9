import { toCancellation, toRequest } from '../../../src/delivery/again/request.js';
import { type Delivery, fromRetryRecord } from '../../../src/delivery/delivery.js';
import { eventually } from '../../support/clocks/eventually.js';
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
  const deliveries = (await fixture.installation.browse(TIER)).flatMap((record) => fromRetryRecord(record) ?? []);
  expect(deliveries).toHaveLength(count);
  const before = requests.length;
  return { sent: () => requests.slice(before).map(webhookId), deliveries };
}

const cancellation = ({ id, payment: place }: Delivery) =>
  toCancellation([detail(1, { id, payment: place ?? '' })], 'ana');
const isDone = async (topic: string, count: number) =>
  (await fixture.installation.broker.committed('test.retry', topic)).get(0) === count;

test('a waiting record ends in a dispatcher that starts after its cancellation, another publication is sent', async () => {
  const { sent, deliveries } = await waiting(2);
  const [first, second] = deliveries;
  if (!first || !second) throw new Error('two deliveries wait');
  expect(first.id).toBe(second.id);
  await fixture.installation.broker.publish(REQUESTS, [cancellation(first)]);
  await fixture.installation.dispatch(SOON);
  await eventually(async () => (await isDone(TIER, 2)) && (await isDone(REQUESTS, 1)));
  expect(sent()).toEqual([second.id]);
});

test('a foreign record of the requests topic becomes a dead letter, and those behind it go on', async () => {
  const { sent, deliveries } = await waiting(1);
  const foreign = { key: null, value: Buffer.from('{}'), headers: [] };
  await fixture.installation.broker.publish(REQUESTS, [foreign, ...deliveries.map((one) => toRequest(one, RESEND))]);
  await fixture.installation.dispatch(SOON);
  await eventually(() => sent().length === 1);
  await eventually(async () => (await fixture.installation.browse('webhooks.dead-letter')).length === 1);
});
