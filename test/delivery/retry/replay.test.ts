import { unreadableBatch, unrouted } from '../../../src/delivery/dead-letters.js';
import { logEntry } from '../../../src/delivery/log/log-record.js';
import type { PaymentEvent } from '../../../src/payments/payment-event.js';
import type { NewRecord, ReceivedRecord } from '../../../src/ports/broker.js';
import type { DeliveryLogEntry } from '../../../src/ports/log-entry.js';
import {
  deactivated,
  exhausted,
  ofOtherHistory,
  ofUnreadable,
  UNREADABLE,
} from '../../support/generators/dead-letter-samples.js';
import { deliveryTo, EVENT, header, NOW, paymentRecord, received } from '../../support/generators/delivery-samples.js';
import { toLogRecord } from '../../support/generators/log-records.js';
import { DeliverFixture } from '../../support/scenes/deliver-fixture.js';
import { webhookOf } from '../../support/scenes/fake-accounts.js';
import { replay } from '../../support/scenes/replaying.js';

let fixture: DeliverFixture;
beforeEach(() => {
  fixture = new DeliverFixture();
  fixture.accounts.put(webhookOf(1), webhookOf(2));
});

const dead = (...letters: NewRecord[]) => fixture.broker.publish(fixture.topics.deadLetters, letters);
const logged = (...deliveries: DeliveryLogEntry[]) =>
  fixture.broker.publish(fixture.topics.deliveries, [toLogRecord({ deliveries })]);
const requested = () => fixture.requested.map(({ delivery }) => delivery);

const given = deliveryTo(1, { step: 3, attempts: 4, payment: `payment-events/0/7@${NOW}` });
test.each([
  ['an exhausted delivery', exhausted(given, 'status 503')],
  ['one whose webhook the service switched off', deactivated(given)],
])('%s begins again, for the webhook that it was for, once', async (_, letter) => {
  await dead(letter);
  expect(await replay(fixture)).toEqual([['replayed', 1]]);
  expect(requested()).toMatchObject([{ chain: 1, step: 0, attempts: 0, webhookEvent: 'added 1', trigger: 'replay' }]);
  expect(await replay(fixture)).toEqual([]);
});

test('of an event that was published twice, the publication that did not arrive begins again', async () => {
  const [first, second] = [7, 8].map((offset) => ({ ...given, payment: `payment-events/0/${offset}@${NOW}` }));
  if (!first || !second) throw new Error('there are two');
  await dead(exhausted(first, 'status 503'));
  await logged(logEntry(second, 'delivered', null, null));
  expect(await replay(fixture)).toEqual([['replayed', 1]]);
  expect(requested()).toMatchObject([{ payment: first.payment }]);
});

describe('a delivery of another history', () => {
  const ofOther = (id: number) => ofOtherHistory(deliveryTo(id), 'other');
  beforeEach(() => fixture.accounts.put(webhookOf(1, { addedBy: 'other' }), webhookOf(2, { addedBy: 'other' })));

  test('is left, and told of once, however often it is among the dead letters', async () => {
    await dead(ofOther(1), ofOther(1), ofOther(2), exhausted(deliveryTo(1), 'status 503'));
    expect(await replay(fixture)).toEqual([
      ['other-history', 1],
      ['other-history', 2],
    ]);
    expect(requested()).toEqual([]);
  });

  test('begins again once its history is back', async () => {
    await dead(ofOther(1));
    fixture.accounts.put(webhookOf(1));
    expect(await replay(fixture)).toEqual([['replayed', 1]]);
  });
});

describe.each([
  ['held', deactivated(deliveryTo(1))],
  ['exhausted', exhausted(deliveryTo(1), 'status 503')],
])('a delivery that was %s', (_, letter) => {
  test.each([
    ['off by the service', webhookOf(1, { isActive: false, offBy: 'service' })],
    ['off by the account', webhookOf(1, { isActive: false })],
  ])('is left while its webhook is %s, and sent once it is active', async (__, off) => {
    await dead(letter, letter);
    fixture.accounts.put(off);
    expect(await replay(fixture)).toEqual([['inactive', 1]]);
    expect(requested()).toEqual([]);
    fixture.accounts.put(webhookOf(1));
    expect(await replay(fixture)).toEqual([['replayed', 1]]);
  });
});

test('a replay begins a chain after all that is known, whatever clocks say', async () => {
  await dead(exhausted(given, 'status 503'));
  await logged(logEntry(given, 'exhausted', null, null));
  await replay(fixture);
  expect(fixture.requested).toMatchObject([{ delivery: { chain: 1, actor: 'cli:ana' }, recovery: null }]);
  await dead(exhausted({ ...given, chain: 1 }, 'status 503'));
  await logged(logEntry({ ...given, chain: 1 }, 'exhausted', null, null));
  expect(await replay(fixture)).toEqual([['replayed', 1]]);
  expect(requested().map(({ chain }) => chain)).toEqual([1, 2]);
});

test.each([
  ['waits is left out', 0, ['retrying']],
  ['was delivered is left out', 0, ['delivered']],
  ['was delivered by a later chain is left out', 0, ['exhausted', 'delivered']],
  ['was cancelled after it was given up begins again', 1, ['exhausted', 'cancelled']],
] as const)('a delivery that %s', async (_, replayed, outcomes) => {
  await dead(exhausted(given, 'status 503'));
  await logged(...outcomes.map((outcome, chain) => logEntry({ ...given, chain }, outcome, null, null)));
  expect(await replay(fixture)).toHaveLength(replayed);
});

describe('a batch that could not be read', () => {
  const PAYMENTS = 'payment-events';
  const publish = (topic: string, ...texts: string[]) =>
    fixture.broker.publish(
      topic,
      texts.map((text) => ({ key: null, value: Buffer.from(text), headers: [header('aw-step', '2')] })),
    );
  const batch = (topic: string, first: number, last: number) => ({
    ...{ topic, partition: 0, first, last, codec: 'zstd' },
    ...{ reason: 'its checksum does not match', digest: 'd' },
  });
  const values = (topic: string) => fixture.broker.of(topic).map(({ value }) => String(value));

  test.each([PAYMENTS, 'webhooks.retry.5s', 'webhooks.requests'])(
    'what can be read of it by now is published to %s, once',
    async (topic) => {
      await publish(topic, 'a', 'b', 'c', 'd');
      await dead(unreadableBatch(batch(topic, 1, 2), 0), unreadableBatch(batch(topic, 1, 2), 0));
      expect(await replay(fixture)).toEqual([['published', null]]);
      expect(values(topic)).toEqual(['a', 'b', 'c', 'd', 'b', 'c']);
      const headers = fixture.broker
        .of(topic)
        .at(-1)
        ?.headers.map(([name, text]) => `${name}: ${text}`);
      expect(headers).toEqual(['aw-step: 2', `aw-replay-of: ${topic}/0/2@0`]);
      expect(await replay(fixture)).toEqual([]);
    },
  );

  test('it is left, and said, while nothing of it can be read, and where its topic was recreated', async () => {
    await dead(unreadableBatch(batch(PAYMENTS, 4, 5), null));
    expect(await replay(fixture)).toEqual([['unreadable-batch', null]]);
    fixture.broker.forget();
    await publish(PAYMENTS, 'a', 'b');
    await dead(unreadableBatch(batch(PAYMENTS, 1, 1), NOW));
    expect(await replay(fixture)).toEqual([['unreadable-batch', null]]);
    expect(values(PAYMENTS)).toEqual(['a', 'b']);
  });
});

describe('of an account that could not be read', () => {
  const record = received(paymentRecord({ headers: [header('x-correlation-id', 'c-1')] }));
  const letterOf = (payment: ReceivedRecord) => unrouted(payment, EVENT as PaymentEvent, UNREADABLE);
  const published = () => fixture.broker.of('payment-events');

  test('a delivery begins again', async () => {
    await dead(ofUnreadable(deliveryTo(1, { attempts: 2 })));
    expect(await replay(fixture)).toEqual([['replayed', 1]]);
    expect(requested()).toMatchObject([{ step: 0, attempts: 0 }]);
    expect(await replay(fixture)).toEqual([]);
  });

  test('a payment is published to its topic again, as it came, once', async () => {
    await dead(letterOf(record), letterOf(record));
    expect(await replay(fixture)).toEqual([['published', null]]);
    const { key, value } = record;
    expect(published()).toMatchObject([{ key, value }]);
    const headers = published()[0]?.headers.map(([name, text]) => `${name}: ${text}`);
    expect(headers).toEqual(['x-correlation-id: c-1', `aw-replay-of: payment-events/0/7@${NOW}`]);
    expect(await replay(fixture)).toEqual([]);
    expect(published()).toHaveLength(1);
  });

  test('what still can’t be read is left, and said, until it can be', async () => {
    fixture.accounts.aside = UNREADABLE;
    await dead(letterOf(record), ofUnreadable(deliveryTo(1)));
    expect(await replay(fixture)).toEqual([
      ['account-unreadable', null],
      ['account-unreadable', 1],
    ]);
    expect([published(), requested()]).toEqual([[], []]);
    fixture.accounts.aside = null;
    expect(await replay(fixture)).toEqual([
      ['published', null],
      ['replayed', 1],
    ]);
  });
});
