/** Another history may give a webhook's id to another webhook: what was meant for the one is not sent to the other. */
import { readDeadLetter } from '../../src/delivery/dead-letters.js';
import { deliveryTo, failedWith, named, paymentRecord, received } from '../support/generators/delivery-samples.js';
import { DeliverFixture, lineOf } from '../support/scenes/deliver-fixture.js';
import { webhookOf } from '../support/scenes/fake-accounts.js';

const OTHER = webhookOf(1, named(1, 'another event'));
const DETAIL = 'event another event added webhook 1; this delivery is for the one that event added 1 added';

let fixture: DeliverFixture;
beforeEach(() => {
  fixture = new DeliverFixture();
  fixture.accounts.put(OTHER);
});

const letters = () => fixture.deadLetters.map((record) => readDeadLetter(received(record)));

function expectNotSent(): void {
  expect(fixture.requests).toEqual([]);
  expect(fixture.broker.topics).toEqual(['webhooks.dead-letter', 'webhooks.deliveries']);
  expect(letters()).toMatchObject([{ reason: 'other-history', detail: DETAIL, webhookId: 1, webhookEvent: 'added 1' }]);
  expect(fixture.log).toMatchObject([{ outcome: 'exhausted', webhookEvent: 'added 1', attempt: null }]);
  expect(fixture.log[0]?.nextAttemptAt).toBeNull();
}

describe('a delivery whose webhook another event added', () => {
  test('is not sent: it is a dead letter that keeps the payment, and its log says that it has ended', async () => {
    await fixture.deliver(deliveryTo(1, { attempts: 2, step: 2 }));
    expectNotSent();
    const { key, value } = paymentRecord();
    expect(fixture.deadLetters).toMatchObject([{ key, value }]);
    expect(letters()).toMatchObject([{ deliveryId: deliveryTo(1).id, attempts: 2 }]);
  });

  test('nor where that one is inactive: it is not its account that cancelled', async () => {
    fixture.accounts.put({ ...OTHER, isActive: false });
    await fixture.deliver(deliveryTo(1));
    expectNotSent();
  });

  test('nor where the webhook became another one while it was queued', async () => {
    fixture.accounts.put(webhookOf(1));
    const place = await fixture.scheduler.acquire(...lineOf(1));
    const delivered = fixture.deliver(deliveryTo(1));
    fixture.accounts.put(OTHER);
    if (place.kind === 'acquired') place.leave();
    await delivered;
    expectNotSent();
  });
});

describe('a delivery that is sent as before', () => {
  test('that of the webhook found, with its event from tier to tier', async () => {
    fixture.answer = () => failedWith(500);
    await fixture.fanOut(received(paymentRecord()));
    expect(fixture.waiting).toMatchObject([{ delivery: { webhookEvent: 'another event' } }]);
    for (const { delivery } of fixture.waiting) await fixture.deliver(delivery);
    expect(fixture.requests).toHaveLength(2);
    expect(fixture.deadLetters).toEqual([]);
  });
});
