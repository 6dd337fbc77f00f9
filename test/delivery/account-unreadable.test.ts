/** Of an account with an event that can't be read nothing is known: its payments and waiting deliveries become dead letters. */
import { readDeadLetter } from '../../src/delivery/dead-letters.js';
import { UNREADABLE } from '../support/dead-letter-samples.js';
import { DeliverFixture } from '../support/deliver-fixture.js';
import { ACCOUNT, deliveryTo, EVENT, header, NOW, paymentRecord, received } from '../support/delivery-samples.js';
import { eventually } from '../support/eventually.js';
import { webhookOf } from '../support/fake-accounts.js';

let fixture: DeliverFixture;
let confirm: () => void;
beforeEach(() => {
  fixture = new DeliverFixture();
  const confirmation = new Promise<void>((fulfil) => {
    confirm = fulfil;
  });
  fixture.confirmed = () => confirmation;
  fixture.accounts.put(webhookOf(1));
});

const letters = () => fixture.deadLetters.map(readDeadLetter);
const { value } = paymentRecord();

describe('a payment', () => {
  test('is a dead letter with its bytes, once that is confirmed, and nothing is sent', async () => {
    fixture.accounts.aside = UNREADABLE;
    const done = fixture.fanOut(received(paymentRecord({ headers: [header('x-correlation-id', 'c-1')] })));
    expect(fixture.deadLetters).toEqual([]);
    confirm();
    await done;
    expect(letters()).toMatchObject([
      {
        ...{ reason: 'account-unreadable', detail: UNREADABLE, source: 'payment-events/0/7' },
        ...{ accountId: ACCOUNT, eventId: EVENT.id, deliveryId: null, webhookId: null },
        value: value?.toString(),
      },
    ]);
    const headers = fixture.deadLetters[0]?.headers.map(([name, text]) => `${name}: ${text}`);
    expect(headers).toContain('x-correlation-id: c-1');
    expect(headers).toContain(`aw-payment: payment-events/0/7@${NOW}`);
    expect([fixture.requests, fixture.routed]).toEqual([[], []]);
    // Of the account it was told once.
    expect([...fixture.logger.warnings, ...fixture.logger.errors]).toEqual([]);
  });

  test('of an account that can be read by the time of the confirmation goes out', async () => {
    fixture.accounts.aside = UNREADABLE;
    const done = fixture.fanOut(received(paymentRecord()));
    fixture.accounts.aside = null;
    confirm();
    await done;
    expect([fixture.requests.length, fixture.deadLetters]).toEqual([1, []]);
  });

  test('that went out before the account was set aside is a dead letter too: it may have had more webhooks', async () => {
    const done = fixture.fanOut(received(paymentRecord()));
    await eventually(() => fixture.log.length === 1);
    fixture.accounts.aside = UNREADABLE;
    confirm();
    await done;
    expect([fixture.log, letters()]).toMatchObject([[{ outcome: 'delivered' }], [{ reason: 'account-unreadable' }]]);
  });
});

describe('a delivery that waits', () => {
  test('is a dead letter, without an attempt, once that is confirmed', async () => {
    fixture.accounts.aside = UNREADABLE;
    const done = fixture.deliver(deliveryTo(1, { attempts: 2 }));
    expect(fixture.deadLetters).toEqual([]);
    confirm();
    await done;
    expect(letters()).toMatchObject([{ reason: 'account-unreadable', detail: UNREADABLE, webhookId: 1, attempts: 2 }]);
    expect(fixture.log).toMatchObject([{ outcome: 'exhausted', attempt: null }]);
    expect(fixture.requests).toEqual([]);
  });
});
