import { createHash } from 'node:crypto';
import { readDeadLetter } from '../../src/delivery/dead-letters.js';
import { BrokerRefused, BrokerUnavailable, type NewRecord } from '../../src/ports/broker.js';
import { eventually } from '../support/clocks/eventually.js';
import {
  DELIVERED,
  deliveryTo,
  EVENT,
  failedWith,
  header,
  NOW,
  paymentRecord,
  received,
} from '../support/generators/delivery-samples.js';
import { DeliverFixture } from '../support/scenes/deliver-fixture.js';
import { webhookOf } from '../support/scenes/fake-accounts.js';

let fixture: DeliverFixture;
beforeEach(() => {
  fixture = new DeliverFixture();
});

const payment = (event: object) => received(paymentRecord({ value: Buffer.from(JSON.stringify(event)) }));
const sentTo = () => fixture.requests.map(({ url }) => url.slice(-1)).sort();

describe('one delivery for each active URL of the account and type', () => {
  test('active ones of the type, each with a webhook-id of its own; no other', async () => {
    const inactive = webhookOf(4, { isActive: false });
    fixture.accounts.put(webhookOf(1), webhookOf(2), webhookOf(3, { eventType: 'cash_out' }), inactive, webhookOf(5));
    await fixture.fanOut(received(paymentRecord()));
    expect(sentTo()).toEqual(['1', '2', '5']);
    expect(fixture.requests.map(({ id }) => id).sort()).toEqual([1, 2, 5].map((id) => deliveryTo(id).id).sort());
    for (const { body } of fixture.requests) expect(body).toEqual(paymentRecord().value);
  });

  test.each([
    ['an account that is unknown', { ...EVENT, accountId: 43 }],
    ['a type without a URL', { ...EVENT, type: 'refund_in' }],
  ])('%s: done, with nothing sent, and the log says that it was routed to nobody', async (_, event) => {
    fixture.accounts.put(webhookOf(1));
    await fixture.fanOut(payment(event));
    expect(fixture.requests).toEqual([]);
    expect(fixture.broker.topics).toEqual([fixture.topics.deliveries]);
    expect(fixture.log).toEqual([]);
    expect(fixture.routed).toMatchObject([
      { payment: `payment-events/0/7@${NOW}`, accountId: event.accountId, webhooks: [] },
    ]);
    expect(fixture.logger.warnings).toEqual([]);
  });

  describe('a record of more than 512 KiB', () => {
    const LIMIT = 512 * 1024;
    const value = paymentRecord().value ?? Buffer.alloc(0);
    const room = LIMIT - value.length;
    const kinds: readonly (readonly [string, NewRecord])[] = [
      ['its key', { key: Buffer.alloc(room + 1), value, headers: [] }],
      ['a header', { key: null, value, headers: [header('x', 'x'.repeat(room))] }],
      ['the name of a header', { key: null, value, headers: [header('é'.repeat(room / 2), 'x')] }],
      ['its value', { key: null, value: Buffer.concat([value, Buffer.alloc(room + 1, ' ')]), headers: [] }],
    ];

    test.each(kinds)('because of %s is not valid: its letter has size, digest and place', async (_, record) => {
      fixture.accounts.put(webhookOf(1));
      await fixture.fanOut(received(record));
      const detail = 'key, headers and value have together more than 524288 bytes';
      const digest = createHash('sha256')
        .update(record.value ?? '')
        .digest('hex');
      const bare = { key: null, value: null, bytes: LIMIT + 1, digest };
      expect(fixture.deadLetters.map(readDeadLetter)).toMatchObject([
        { reason: 'not-valid', detail, source: 'payment-events/0/7', ...bare },
      ]);
      expect(fixture.deadLetters[0]?.headers.filter(([name]) => !name.startsWith('aw-'))).toEqual([]);
      expect([fixture.requests, fixture.routed]).toEqual([[], []]);
    });

    test('less one byte keeps its bytes: it is delivered, and its retry record has its key', async () => {
      fixture.accounts.put(webhookOf(1));
      fixture.answer = () => failedWith(500);
      const record = { key: Buffer.alloc(room), value, headers: [] };
      await fixture.fanOut(received(record));
      expect(fixture.waiting).toMatchObject([{ delivery: { record: { key: record.key, value } } }]);
      await fixture.fanOut(received({ ...record, value: Buffer.alloc(value.length) }));
      expect(fixture.deadLetters).toMatchObject([{ key: record.key, value: Buffer.alloc(value.length) }]);
    });
  });

  test('what is not a payment event is a dead letter, and done', async () => {
    fixture.accounts.put(webhookOf(1));
    await fixture.fanOut(payment({ ...EVENT, type: 'cash_sideways' }));
    expect(fixture.requests).toEqual([]);
    expect(fixture.broker.topics).toEqual(['webhooks.dead-letter']);
    const headers = fixture.deadLetters[0]?.headers.map(([name, value]) => `${name}: ${value}`);
    expect(headers).toContain('aw-detail: type is not a known event type');
  });
});

describe('a payment for a webhook that the service switched off', () => {
  beforeEach(() => fixture.accounts.put(webhookOf(1), webhookOf(2, { isActive: false, offBy: 'service' })));

  test('is held: a dead letter that a replay can send, and nothing is sent', async () => {
    await fixture.fanOut(received(paymentRecord()));
    expect(sentTo()).toEqual(['1']);
    expect(fixture.deadLetters.map(readDeadLetter)).toMatchObject([
      { reason: 'deactivated', deliveryId: deliveryTo(2).id, webhookId: 2, webhookEvent: 'added 2', attempts: 0 },
    ]);
    expect(fixture.log).toContainEqual(
      expect.objectContaining({ webhookId: 2, outcome: 'exhausted', attempt: null, nextAttemptAt: null }),
    );
    expect(fixture.routed).toMatchObject([{ webhooks: [1, 2] }]);
  });

  test('is sent if the webhook is active by the confirmation', async () => {
    fixture.confirmed = async () => fixture.accounts.put(webhookOf(2));
    await fixture.fanOut(received(paymentRecord()));
    expect(sentTo()).toEqual(['1', '2']);
    expect(fixture.deadLetters).toEqual([]);
  });

  test('is held if only the confirmation reveals that the service switched it off', async () => {
    fixture.accounts.remove(2);
    fixture.confirmed = async () => fixture.accounts.put(webhookOf(2, { isActive: false, offBy: 'service' }));
    await fixture.fanOut(received(paymentRecord()));
    expect(fixture.deadLetters.map(readDeadLetter)).toMatchObject([{ reason: 'deactivated', webhookId: 2 }]);
    expect(fixture.routed).toMatchObject([{ webhooks: [1, 2] }]);
  });
});

describe('when the record is done', () => {
  test('not before the last of its deliveries is', async () => {
    fixture.accounts.put(webhookOf(1), webhookOf(2));
    let answerSlow: () => void = () => undefined;
    const slow = new Promise<void>((resolve) => {
      answerSlow = resolve;
    });
    fixture.answer = async ({ url }) => {
      if (url.endsWith('2')) await slow;
      return DELIVERED;
    };
    let done = false;
    const handled = fixture.fanOut(received(paymentRecord())).then(() => {
      done = true;
    });
    await eventually(() => fixture.log.length === 1);
    expect(done).toBe(false);
    answerSlow();
    await handled;
    expect(fixture.log).toHaveLength(2);
  });
});

describe('a broker that takes nothing', () => {
  const refusing: readonly (readonly [string, string, () => unknown])[] = [
    ['the log', 'webhooks.deliveries', () => fixture.log],
    ['the tier', 'webhooks.retry.5s', () => fixture.waiting],
  ];

  test.each(refusing)(
    '%s: the record is not done, is not sent again, and waits for the broker; nothing is in the log before',
    async (_, topic, kept) => {
      fixture.accounts.put(webhookOf(1));
      fixture.answer = () => failedWith(500);
      fixture.broker.failing.add(topic);
      let done = false;
      const handled = fixture.fanOut(received(paymentRecord())).then(() => {
        done = true;
      });
      await eventually(() => fixture.broker.refused > 0);
      expect([done, fixture.log]).toEqual([false, []]);
      fixture.broker.failing.clear();
      await handled;
      expect(fixture.requests).toHaveLength(1);
      expect(kept()).toHaveLength(1);
    },
  );

  test.each(['webhooks.deliveries', 'webhooks.retry.5s'])(
    'a permission that is missing for %s is told once, and not waited for',
    async (topic) => {
      fixture.accounts.put(webhookOf(1));
      fixture.broker.denied.add(topic);
      fixture.answer = () => failedWith(500);
      await expect(fixture.fanOut(payment(EVENT))).rejects.toThrow(BrokerRefused);
      expect(fixture.refusals[0]?.message).toBe(`no permission to write to ${topic}`);
      expect(fixture.logger.errors).toEqual([]);
    },
  );

  test('one delivery given up: the others settle before the handler rejects', async () => {
    fixture.accounts.put(webhookOf(1), webhookOf(2));
    fixture.abandon.abort();
    fixture.broker.failing.add('webhooks.retry.5s');
    let answered = 0;
    fixture.answer = async ({ url }) => {
      if (url.endsWith('1')) return failedWith(500);
      await eventually(() => fixture.broker.refused > 0);
      answered += 1;
      return DELIVERED;
    };
    await expect(fixture.fanOut(received(paymentRecord()))).rejects.toThrow(BrokerUnavailable);
    expect(answered).toBe(1);
    expect(fixture.log.map(({ webhookId, outcome }) => `${webhookId} ${outcome}`)).toContain('2 delivered');
  });
});
