/**
 * `dead-letters replay` is killed, or runs from two terminals at once. A kill leaves what was durable: here the broker takes
 * nothing after so many publications. A second terminal begins before a publication of the first.
 */
import { unrouted } from '../../../src/delivery/dead-letters.js';
import { type Delivery, newDelivery } from '../../../src/delivery/delivery.js';
import type { PaymentEvent } from '../../../src/payments/payment-event.js';
import { BrokerUnavailable } from '../../../src/ports/broker.js';
import { deactivated, exhausted, ofUnreadable, UNREADABLE } from '../../support/generators/dead-letter-samples.js';
import { EVENT, named, paymentRecord, received } from '../../support/generators/delivery-samples.js';
import { DeliverFixture } from '../../support/scenes/deliver-fixture.js';
import { webhookOf } from '../../support/scenes/fake-accounts.js';
import { replay } from '../../support/scenes/replaying.js';

const WEBHOOKS = [1, 2, 3];
/** A request for each delivery, then the payment. */
const PUBLICATIONS = WEBHOOKS.length + 1;
const AFTER_EACH = Array.from({ length: PUBLICATIONS }, (_, n) => n);

let fixture: DeliverFixture;
beforeEach(async () => {
  fixture = new DeliverFixture();
  fixture.accounts.put(...WEBHOOKS.map((id) => webhookOf(id)));
  const [one, two, three] = WEBHOOKS.map((id) => newDelivery(EVENT, named(id), received(paymentRecord())));
  const payment = unrouted(received(paymentRecord(), { offset: 8 }), EVENT as PaymentEvent, UNREADABLE);
  await fixture.broker.publish(fixture.topics.deadLetters, [
    exhausted(one as Delivery, 'status 503'),
    deactivated(two as Delivery),
    ofUnreadable(three as Delivery),
    payment,
  ]);
});

/** The number of replayed deliveries and payments. */
const replayed = async () =>
  (await replay(fixture)).filter(([kind]) => kind === 'replayed' || kind === 'published').length;

/** @param then is called instead of the publication after this many */
function afterPublications(
  count: number,
  then: (publish: () => Promise<readonly number[]>) => Promise<readonly number[]>,
): void {
  const publish = fixture.broker.publish.bind(fixture.broker);
  let done = 0;
  fixture.broker.publish = (...given) => {
    done += 1;
    return done === count + 1 ? then(() => publish(...given)) : publish(...given);
  };
}

/** The URLs of the attempts that a dispatcher makes of all requests. */
async function sent(): Promise<string[]> {
  await fixture.consume();
  return fixture.requests.map(({ url }) => url);
}

const EACH_ONCE = WEBHOOKS.map((id) => webhookOf(id).endpoint);

const published = () => fixture.broker.of('payment-events').length;

describe.each(AFTER_EACH)('a replay that is killed after %i publications', (count) => {
  test('is finished by the next one, which repeats nothing', async () => {
    afterPublications(count, () => Promise.reject(new BrokerUnavailable('killed')));
    await expect(replayed()).rejects.toThrow('killed');
    expect(await replayed()).toBe(WEBHOOKS.length + 1 - count);
    expect(fixture.requested.map(({ delivery }) => delivery.webhookId)).toEqual(WEBHOOKS);
    expect(published()).toBe(1);
    expect(await sent()).toEqual(EACH_ONCE);
    expect(await replayed()).toBe(0);
  });
});

describe.each(AFTER_EACH)('a second terminal that begins after %i publications of the first', (count) => {
  test('loses nothing, and no delivery is sent twice', async () => {
    let replayedBySecond = 0;
    afterPublications(count, async (publish) => {
      replayedBySecond = await replayed();
      return publish();
    });
    expect(await replayed()).toBeGreaterThanOrEqual(WEBHOOKS.length);
    expect(replayedBySecond).toBe(WEBHOOKS.length + 1 - count);
    expect((await sent()).sort()).toEqual(EACH_ONCE);
    expect(await replayed()).toBe(0);
  });
});
