/** Topics that refuse a record of a delivery for good: the delivery or payment ends as a dead letter. */
import { createHash } from 'node:crypto';
import { readDeadLetter } from '../../src/delivery/dead-letters.js';
import type { DeliveryMetrics } from '../../src/observability/metrics.js';
import { DeliverFixture } from '../support/deliver-fixture.js';
import {
  ACCOUNT,
  DELIVERED,
  deliveryTo,
  EVENT,
  failedWith,
  GONE,
  INTERRUPTED,
  paymentRecord,
  received,
} from '../support/delivery-samples.js';
import { eventually } from '../support/eventually.js';
import { webhookOf } from '../support/fake-accounts.js';
import { noDeliveryMetrics } from '../support/no-metrics.js';

const TIER = 'webhooks.retry.5s';
const LOG = 'webhooks.deliveries';
const LETTERS = 'webhooks.dead-letter';
const record = paymentRecord();

let counted: string[];
let fixture: DeliverFixture;
beforeEach(() => {
  counted = [];
  const deadLetter: DeliveryMetrics['deadLetter'] = (reason) => void counted.push(reason);
  fixture = new DeliverFixture({ metrics: { ...noDeliveryMetrics, deadLetter } });
  fixture.accounts.put(webhookOf(1));
});
afterEach(() => fixture.abandon.abort());

const letters = () => fixture.deadLetters.map(readDeadLetter);
const refused = { reason: 'record-refused', accountId: ACCOUNT, webhookId: 1, eventId: EVENT.id };

describe('a retry record that its tier refuses', () => {
  test.each([
    ['after an attempt', failedWith(500), 1],
    ['of a parked delivery', INTERRUPTED, 0],
  ])(
    '%s: the delivery is exhausted, with a dead letter that has the event and the cause',
    async (_, result, attempts) => {
      fixture.broker.refusing.add(TIER);
      await fixture.attempted(result, { record });
      const detail = `${TIER} refuses the record (POLICY_VIOLATION)`;
      expect(letters()).toMatchObject([{ ...refused, attempts, detail, value: String(record.value) }]);
      expect(fixture.log).toMatchObject([{ outcome: 'exhausted', nextAttemptAt: null }]);
      expect(counted).toEqual(['record-refused']);
    },
  );

  test('exhausts a delivery that was parked before, and the log says so', async () => {
    fixture.broker.refusing.add(TIER);
    await fixture.attempted(INTERRUPTED, { record, deferrals: 1 });
    expect(fixture.log).toMatchObject([{ outcome: 'exhausted' }]);
  });
});

describe('a dead letter that is too large for its topic', () => {
  test.each([
    ['of an exhausted delivery', 3, 'exhausted'],
    ['of a delivery whose retry record is too large', 0, 'record-refused'],
  ])('%s has the size and the digest of the event instead of the event', async (_, step, reason) => {
    const value = Buffer.alloc(5_000);
    fixture.broker.mostBytes = 4_000;
    await fixture.attempted(failedWith(500), { record: { ...record, value }, step });
    const [digest, bytes] = [createHash('sha256').update(value).digest('hex'), 5_000];
    expect(letters()).toMatchObject([{ ...refused, reason, value: null, bytes, digest }]);
    expect(fixture.log).toMatchObject([{ outcome: 'exhausted' }]);
  });
});

describe('an entry that the deliveries topic refuses', () => {
  test.each([
    ['delivered', DELIVERED],
    ['cancelled', GONE],
  ])(
    'that it is %s: the dead letter says so, without the event, which a replay would send',
    async (outcome, result) => {
      fixture.broker.refusing.add(LOG);
      fixture.answer = () => {
        if (outcome === 'cancelled') fixture.accounts.remove(1);
        return result;
      };
      await fixture.deliver(deliveryTo(1, { record }));
      const detail = `${outcome}; ${LOG} refuses the record (POLICY_VIOLATION)`;
      expect(letters()).toMatchObject([{ ...refused, detail, value: null, attempts: 1 }]);
      expect(counted).toEqual(['record-refused']);
    },
  );

  test('is left out if a retry record or dead letter shows the state of the delivery', async () => {
    fixture.broker.refusing.add(LOG);
    await fixture.attempted(failedWith(500));
    expect([fixture.waiting.length, letters()]).toEqual([1, []]);
    await fixture.attempted(failedWith(500), { step: 3 });
    expect(letters()).toMatchObject([{ reason: 'exhausted' }]);
    expect(fixture.logger.errors).toHaveLength(2);
  });

  test('is replaced by a dead letter of the payment if it is about a routing', async () => {
    fixture.broker.refusing.add(LOG);
    await fixture.fanOut(received(record));
    const payment = letters().filter(({ webhookId }) => webhookId === null);
    expect(payment).toMatchObject([
      { reason: 'record-refused', eventId: EVENT.id, accountId: ACCOUNT, source: 'payment-events/0/7' },
    ]);
  });
});

describe('dead letters that their topic refuses', () => {
  test('are logged once and counted as held, cause no further attempt, and are written when the topic accepts them', async () => {
    fixture = new DeliverFixture({ letterAgainMs: 10 });
    fixture.accounts.put(webhookOf(1));
    fixture.broker.refusing.add(LETTERS);
    const done = fixture.attempted(failedWith(500), { step: 3 });
    done.catch(() => undefined);
    await eventually(() => fixture.parts.heldLetters.count === 1);
    expect(JSON.stringify(fixture.logger.errors)).toContain('the dead-letter topic refuses a dead letter');
    expect(fixture.log).toEqual([]);
    fixture.broker.refusing.clear();
    await done;
    expect([fixture.requests.length, letters().length, fixture.parts.heldLetters.count]).toEqual([1, 1, 0]);
    expect(fixture.log).toMatchObject([{ outcome: 'exhausted' }]);
    expect(fixture.logger.errors).toHaveLength(1);
    // Not for each form of each try.
    expect(fixture.logger.warnings.filter((line) => JSON.stringify(line).includes('left out'))).toEqual([]);
  });

  test('keep no place at their endpoint', async () => {
    fixture.broker.refusing.add(LETTERS);
    const held = fixture.attempted(failedWith(500), { step: 3 });
    held.catch(() => undefined);
    await eventually(() => fixture.parts.heldLetters.count === 1);
    await fixture.attempted(DELIVERED);
    expect(fixture.log).toMatchObject([{ outcome: 'delivered' }]);
    expect(fixture.gate.state).toMatchObject({ active: 0, waiting: 0 });
  });

  test('are held for records that are not valid, too', async () => {
    fixture.broker.refusing.add(LETTERS);
    const done = fixture.fanOut(received({ key: null, value: Buffer.from('?'), headers: [] }));
    done.catch(() => undefined);
    await eventually(() => fixture.parts.heldLetters.count === 1);
    fixture.abandon.abort();
    await expect(done).rejects.toThrow();
  });
});
