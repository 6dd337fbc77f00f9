/** What a resend and a cancellation write: one record, or nothing. */
import { entriesOfRequest } from '../../../src/delivery/again/request.js';
import { createCancelDelivery, createSendAgain } from '../../../src/delivery/again/send-again.js';
import { newDelivery } from '../../../src/delivery/delivery.js';
import { createPublishedPayloads } from '../../../src/delivery/record-place.js';
import { requester } from '../../../src/limits/user-limits.js';
import type { PaymentEvent } from '../../../src/payments/payment-event.js';
import { BrokerUnavailable, heldBytes, type ReceivedRecord } from '../../../src/ports/broker.js';
import type { ViewedDelivery } from '../../../src/ports/deliveries-view.js';
import { type CancelDelivery, MOST_REQUESTS, type SendAgain } from '../../../src/ports/send-again.js';
import { createRequestBudget } from '../../../src/webhooks/account-buckets.js';
import {
  ACCOUNT,
  EVENT,
  failedWith,
  named,
  paymentRecord,
  received,
} from '../../support/generators/delivery-samples.js';
import { DeliverFixture, SCHEDULE } from '../../support/scenes/deliver-fixture.js';
import { webhookOf } from '../../support/scenes/fake-accounts.js';
import { detail } from '../../support/scenes/recoverable-view.js';

const RESEND = { trigger: 'resend', actor: 'support' } as const;
const RECORD = received(paymentRecord());
const TOPIC = 'webhooks.requests';

let fixture: DeliverFixture;
let kept: ReceivedRecord | null;
let isAway: boolean;
let now: number;
let withBudget: (atOnce?: number) => void;
let sendAgain: SendAgain;
let cancel: CancelDelivery;

beforeEach(() => {
  fixture = new DeliverFixture();
  fixture.accounts.put(webhookOf(1));
  kept = RECORD;
  isAway = false;
  now = 0;
  const { topics, accounts } = fixture;
  const publish: DeliverFixture['broker']['publish'] = async (topic, records) => {
    if (isAway) throw new BrokerUnavailable('away');
    return fixture.broker.publish(topic, records);
  };
  const broker = {
    read: async () => kept,
    extent: async () => new Map([[0, { first: 0, next: 9 }]]),
    listTopics: async () => [],
  };
  const topicsOfPayments = { topics: [RECORD.topic], keptMs: async () => null, impossible: () => undefined };
  const payloads = createPublishedPayloads(broker, topicsOfPayments);
  const parts = { broker: { publish }, payloads, topics, accounts, schedule: SCHEDULE };
  withBudget = (atOnce) => {
    const budget = createRequestBudget(() => now, atOnce);
    sendAgain = createSendAgain({ ...parts, budget });
    cancel = createCancelDelivery({ ...parts, budget });
  };
  withBudget();
});

function known(changes: Partial<ViewedDelivery> = {}, record = RECORD): ViewedDelivery {
  const { id, payment, eventId } = newDelivery(EVENT as PaymentEvent, named(1), record);
  return detail(1, { id, payment: payment ?? '', eventId, ...changes });
}
const WAITING = { outcome: 'retrying', step: 1 } as const;

/** The requests, as their topic has them. */
const published = () => fixture.broker.of(TOPIC);

async function consumed(): Promise<DeliverFixture> {
  await fixture.consume();
  return fixture;
}

describe('a resend', () => {
  it.each(['delivered', 'exhausted', 'cancelled'] as const)(
    'of a delivery that is %s is its last attempt, in a chain of its own',
    async (outcome) => {
      expect(await sendAgain(known({ outcome }), RESEND)).toEqual({ kind: 'accepted' });
      expect(fixture.broker.topics).toEqual([TOPIC]);
      fixture.answer = () => failedWith(500);
      const { log, deadLetters } = await consumed();
      expect(log).toMatchObject([{ outcome: 'exhausted', chain: 1, attempts: 1, attempt: { trigger: 'resend' } }]);
      expect(deadLetters).toHaveLength(1);
    },
  );

  it('of a waiting delivery goes on with its step', async () => {
    await sendAgain(known(WAITING), RESEND);
    fixture.answer = () => failedWith(500);
    await consumed();
    expect(fixture.waiting).toMatchObject([{ tier: '5m', delivery: { chain: 1, attempts: 1, step: 2 } }]);
  });

  it('is the first entry of its chain: the delivery waits', async () => {
    await sendAgain(known(WAITING), RESEND);
    const [record] = published();
    const entry = { outcome: 'retrying', chain: 1, attempts: 0, attempt: null, payment: known().payment, step: 1 };
    expect(record && entriesOfRequest(record)).toEqual([expect.objectContaining(entry)]);
  });

  it('is not requested more than a hundred times', async () => {
    expect(await sendAgain(known({ requests: MOST_REQUESTS }), RESEND)).toMatchObject({ kind: 'sent-too-often' });
    expect(published()).toEqual([]);
    expect(await sendAgain(known({ requests: MOST_REQUESTS - 1 }), RESEND)).toMatchObject({ kind: 'accepted' });
  });

  it('writes nothing if the log names a payment topic that does not exist', async () => {
    const forged = known({ payment: `theirs/0/1@${RECORD.timestamp}` });
    expect(await sendAgain(forged, RESEND)).toEqual({ kind: 'payload-gone' });
    expect(published()).toEqual([]);
  });

  it.each([
    ['the topic no longer has the record', () => null],
    ['another record is at its place, because the topic was recreated', () => ({ ...RECORD, timestamp: 1 })],
    ['the record is no payment event', () => ({ ...RECORD, value: Buffer.from('{') })],
    [
      'the record is of another payment',
      () => received(paymentRecord({ value: Buffer.from('{"id":"x","type":"cash_in","accountId":42,"data":{}}') })),
    ],
  ])('writes nothing where %s', async (_, record) => {
    kept = record();
    expect(await sendAgain(known(), RESEND)).toEqual({ kind: 'payload-gone' });
    expect(published()).toEqual([]);
  });

  it.each([
    ['is inactive', () => fixture.accounts.put(webhookOf(1, { isActive: false }))],
    ['was removed', () => fixture.accounts.remove(1)],
    ['is another one with the same id', () => fixture.accounts.put(webhookOf(1, { addedBy: 'another history' }))],
  ])('writes nothing where the webhook %s', async (_, change) => {
    change();
    expect(await sendAgain(known(), RESEND)).toEqual({ kind: 'webhook-inactive' });
    expect(published()).toEqual([]);
  });

  it('looks into the store where the read model does not know yet that the webhook is active; a recovery does not', async () => {
    const inStore = await fixture.accounts.webhooks(ACCOUNT);
    fixture.accounts.webhooksNow = async () => inStore;
    fixture.accounts.webhooks = async () => inStore && { ...inStore, webhooks: [] };
    expect(await sendAgain(known(), { trigger: 'recover', actor: 'support', recovery: 'r-1' })).toEqual({
      kind: 'webhook-inactive',
    });
    expect(await sendAgain(known(), RESEND)).toMatchObject({ kind: 'accepted' });
  });

  it('has happened or has not: a broker that is away leaves nothing', async () => {
    isAway = true;
    await expect(sendAgain(known(WAITING), RESEND)).rejects.toThrow(BrokerUnavailable);
    expect(fixture.broker.topics).toEqual([]);
  });
});

describe('what an account makes the service keep', () => {
  it('is up to 256 MiB in one burst and then 64 KiB per second, half of it by one user', () => {
    const { take } = createRequestBudget(() => now);
    const bytes = 128 * 1024 * 1024;
    expect([take(requester(ACCOUNT, 'a'), bytes), take(requester(ACCOUNT, 'b'), bytes)]).toEqual([0, 0]);
    expect(take(requester(ACCOUNT, 'a'), 64 * 1024)).toBeCloseTo(2_000);
    expect(take(requester(ACCOUNT, 'c'), 64 * 1024)).toBeCloseTo(1_000);
  });

  it('may be exceeded by a reserve, by 64 KiB for all users', () => {
    const { take } = createRequestBudget(() => now, 2_000);
    for (const user of ['a', 'b']) take(requester(ACCOUNT, user), 1_000);
    const cancelled = (user: string) =>
      Array.from({ length: 100 }, () => take({ ...requester(ACCOUNT, user), mayExceed: () => true }, 1_000));
    const count = (user: string) => cancelled(user).filter((waitMs) => waitMs === 0).length;
    expect(count('c') + count('d') + count('e')).toBe(66);
  });

  it('is the bytes of its requests, and of the record that may follow from each', async () => {
    await sendAgain(known(), RESEND);
    const ofOne = 2 * heldBytes(RECORD);
    withBudget(3 * ofOne);
    expect(await sendAgain(known(), RESEND)).toMatchObject({ kind: 'accepted' });
    const ms = (ofOne * 1_000) / (64 * 1024);
    expect(await sendAgain(known(), RESEND)).toEqual({
      kind: 'too-much-sent-again',
      retryAfterMs: expect.closeTo(ms, 6),
    });
    expect(published()).toHaveLength(2);
    now += ms;
    expect(await sendAgain(known(), RESEND)).toMatchObject({ kind: 'accepted' });
  });

  it('is not charged to another account, and counts cancellations too', async () => {
    withBudget(1_000);
    expect(await cancel([known()], 'ana', requester(ACCOUNT, 'ana'))).toMatchObject({ kind: 'accepted' });
    expect(await cancel([known()], 'ana', requester(ACCOUNT, 'ana'))).toMatchObject({ kind: 'too-much-sent-again' });
    expect(await cancel([known({ accountId: ACCOUNT + 1 })], 'ana', requester(ACCOUNT + 1, 'ana'))).toMatchObject({
      kind: 'accepted',
    });
  });
});

describe('a cancellation', () => {
  it('is one record for all publications of the event, and ends each of them', async () => {
    const other = known({}, received(paymentRecord(), { offset: 8 }));
    expect(await cancel([known(WAITING), other], 'ana', requester(ACCOUNT, 'ana'))).toEqual({ kind: 'accepted' });
    const [record] = published();
    expect(record?.value).toBeNull();
    const entry = { outcome: 'cancelled', chain: 1, attempts: 0, attempt: null, nextAttemptAt: null };
    expect(record && entriesOfRequest(record)).toEqual([
      expect.objectContaining({ ...entry, payment: known().payment }),
      expect.objectContaining({ ...entry, payment: other.payment }),
    ]);
  });

  it('of a CloudEvent names its source, which is part of its identity', async () => {
    await cancel([known({ eventSource: '/ledger' })], 'ana', requester(ACCOUNT, 'ana'));
    const [record] = published();
    expect(record && entriesOfRequest(record)).toEqual([expect.objectContaining({ eventSource: '/ledger' })]);
  });
});
