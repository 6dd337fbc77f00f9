/** Payments are routed at once, and confirmed by a head of the event store before they are done. */
import { readDeadLetter } from '../../src/delivery/dead-letters.js';
import { eventually } from '../support/clocks/eventually.js';
import { ACCOUNT, deliveryTo, NOW, paymentRecord, received } from '../support/generators/delivery-samples.js';
import { DeliverFixture, OWN } from '../support/scenes/deliver-fixture.js';
import { webhookOf } from '../support/scenes/fake-accounts.js';

let fixture: DeliverFixture;
let confirm: () => void;
let giveUp: () => void;
beforeEach(() => {
  fixture = new DeliverFixture();
  const confirmation = new Promise<void>((fulfil, reject) => {
    confirm = fulfil;
    giveUp = () => reject(new Error('stopping'));
  });
  fixture.confirmed = () => confirmation;
});

const sentTo = () => fixture.requests.map(({ url }) => Number(url.slice(-1)));
const ended = (promise: Promise<unknown>) => {
  const state = { is: 'open' };
  promise.then(
    () => {
      state.is = 'done';
    },
    () => {
      state.is = 'rejected';
    },
  );
  return state;
};

describe('a payment', () => {
  test('goes out at once, and is done only when the store confirmed how it was routed', async () => {
    fixture.accounts.put(webhookOf(1));
    const record = ended(fixture.fanOut(received(paymentRecord())));
    await eventually(() => fixture.log.length === 1);
    expect(record.is).toBe('open');
    expect(fixture.routed).toEqual([]);
    confirm();
    await eventually(() => record.is === 'done');
    expect(sentTo()).toEqual([1]);
  });

  test('reaches a webhook that only the confirmation reveals', async () => {
    fixture.accounts.put(webhookOf(1));
    const done = fixture.fanOut(received(paymentRecord()));
    await eventually(() => fixture.log.length === 1);
    fixture.accounts.put(webhookOf(2));
    confirm();
    await done;
    expect(sentTo()).toEqual([1, 2]);
    const payment = `payment-events/0/7@${NOW}`;
    const event = { accountId: ACCOUNT, eventId: 'pay-1', eventType: 'cash_in', amount: '10.00' };
    expect(fixture.routed).toEqual([{ ...event, payment, routed: 1, confirmed: 2, webhooks: [1, 2] }]);
  });

  test('that nobody confirms is not done', async () => {
    fixture.accounts.put(webhookOf(1));
    const record = ended(fixture.fanOut(received(paymentRecord())));
    await eventually(() => fixture.log.length === 1);
    giveUp();
    await eventually(() => record.is === 'rejected');
  });
});

describe('an end without an attempt', () => {
  test('waits for the confirmation, and then is one', async () => {
    fixture.accounts.put(webhookOf(1));
    fixture.accounts.remove(1);
    const delivery = ended(fixture.deliver(deliveryTo(1, { attempts: 1 })));
    await Promise.resolve();
    expect([delivery.is, fixture.log]).toEqual(['open', []]);
    confirm();
    await eventually(() => delivery.is === 'done');
    expect(fixture.log).toMatchObject([{ outcome: 'cancelled' }]);
  });

  test('for a webhook that this history never had is a dead letter', async () => {
    confirm();
    await fixture.deliver(deliveryTo(1, { attempts: 1 }));
    expect(fixture.log).toMatchObject([{ outcome: 'exhausted' }]);
    const letters = fixture.deadLetters.map(readDeadLetter);
    expect(letters).toMatchObject([{ reason: 'other-history', detail: 'this history never had webhook 1' }]);
  });
});

describe("a record that became another consumer's", () => {
  test('is not sent, and not deferred either', async () => {
    fixture.accounts.put(webhookOf(1));
    await expect(fixture.deliver(deliveryTo(1), { ...OWN, isOwn: () => false })).rejects.toThrow(
      'another consumer now has the record',
    );
    fixture.scheduler.close();
    await expect(fixture.deliver(deliveryTo(1), { ...OWN, isOwn: () => false })).rejects.toThrow(
      'another consumer now has the record',
    );
    expect([fixture.requests, fixture.broker.topics]).toEqual([[], []]);
    expect(fixture.scheduler.state.active).toBe(0);
  });
});
