/** What a resend and a cancellation publish, in which order, and what a dispatcher makes of it after a crash in between. */
import { cancelDelivery, createSendAgain } from '../../../src/delivery/again/send-again.js';
import { Superseded } from '../../../src/delivery/again/superseded.js';
import { createDeliver } from '../../../src/delivery/deliver.js';
import { newDelivery } from '../../../src/delivery/delivery.js';
import { readLogRecord } from '../../../src/delivery/log/log-record.js';
import type { PaymentEvent } from '../../../src/delivery/payment/payment-event.js';
import { paymentText, placeOf } from '../../../src/delivery/record-place.js';
import { eachStepOnce } from '../../../src/delivery/retry/steps-once.js';
import { BrokerUnavailable, type ReceivedRecord } from '../../../src/ports/broker.js';
import type { DeliveryDetail, ViewAttempt } from '../../../src/ports/deliveries-view.js';
import { MOST_RESENDS, type SendAgain } from '../../../src/ports/send-again.js';
import { DeliverFixture, OWN, SCHEDULE } from '../../support/deliver-fixture.js';
import { EVENT, failedWith, NOW, named, paymentRecord, received } from '../../support/delivery-samples.js';
import { webhookOf } from '../../support/fake-accounts.js';
import { detail } from '../../support/recoverable-view.js';

const RESEND = { trigger: 'resend', actor: 'support' } as const;
const RECORD = received(paymentRecord());

let fixture: DeliverFixture;
let kept: ReceivedRecord | null;
let published: string[];
let failsAfter: number;
let sendAgain: SendAgain;

beforeEach(() => {
  fixture = new DeliverFixture();
  fixture.accounts.put(webhookOf(1));
  kept = RECORD;
  published = [];
  failsAfter = Number.POSITIVE_INFINITY;
  sendAgain = createSendAgain(parts());
});

function parts() {
  const { topics, accounts } = fixture;
  return { broker: { publish, read: async () => kept }, topics, accounts, schedule: SCHEDULE, now: () => NOW };
}

const publish: DeliverFixture['broker']['publish'] = async (topic, records) => {
  if (published.length === failsAfter) throw new BrokerUnavailable('killed');
  await fixture.broker.publish(topic, records);
  published.push(topic);
};

function known(changes: Partial<DeliveryDetail> = {}, record = RECORD): DeliveryDetail {
  const { id, payment, eventId } = newDelivery(EVENT as PaymentEvent, named(1), record);
  return detail(1, { id, payment, eventId, ...changes });
}
const WAITING = { outcome: 'retrying', turn: 3, step: 1 } as const;

const TIER = 'webhooks.retry.0s';
const marks = () =>
  fixture.broker.of('webhooks.superseded').map(({ value }) => JSON.parse(String(value)) as { turn: number });
const entries = () => fixture.broker.of('webhooks.deliveries').flatMap((record) => readLogRecord(record).deliveries);

/** The turns of the attempts that a dispatcher makes of all that waits. */
async function attempts(): Promise<number> {
  const superseded = new Superseded({
    ...{
      topics: fixture.topics,
      logger: fixture.logger,
      longestWaitMs: 1,
      now: () => NOW,
      pause: async () => undefined,
    },
    broker: fixture.broker,
  });
  await superseded.start(AbortSignal.abort());
  const retry = eachStepOnce(createDeliver(fixture.parts));
  for (const { delivery } of fixture.waiting) if (!superseded.covers(delivery)) await retry(delivery, OWN);
  return fixture.requests.length;
}

describe('a resend', () => {
  it('of a delivery that has ended is its last attempt, due now in the tier for it', async () => {
    expect(await sendAgain(known({ turn: 4 }), RESEND)).toBe('put-back');
    expect(published).toEqual([TIER, 'webhooks.deliveries']);
    expect(fixture.waiting).toEqual([
      expect.objectContaining({ tier: '0s', due: NOW, delivery: expect.objectContaining({ turn: 6, step: 3 }) }),
    ]);
    fixture.answer = () => failedWith(500);
    await attempts();
    expect(entries().at(-1)).toMatchObject({ outcome: 'exhausted', turn: 7 });
  });

  it('of a waiting delivery goes on with its step, and supersedes the waiting record before the log says so', async () => {
    expect(await sendAgain(known(WAITING), RESEND)).toBe('put-back');
    expect(published).toEqual([TIER, 'webhooks.superseded', 'webhooks.deliveries']);
    expect(fixture.waiting[0]?.delivery).toMatchObject({ turn: 5, step: 1 });
    expect(marks()).toEqual([expect.objectContaining({ id: known().id, payment: known().payment, turn: 4 })]);
    expect(entries()).toEqual([expect.objectContaining({ outcome: 'retrying', turn: 5, attempt: null })]);
  });

  it('carries the event, and does not count as delivery latency', async () => {
    await sendAgain(known(), RESEND);
    expect(fixture.waiting[0]?.delivery).toMatchObject({
      eventId: EVENT.id,
      publishedAt: null,
      payment: known().payment,
    });
    expect(String(fixture.waiting[0]?.delivery.record.value)).toBe(String(RECORD.value));
  });

  it('of a delivered delivery whose earlier resend waits is one attempt', async () => {
    await sendAgain(known({ outcome: 'delivered', turn: 1 }), RESEND);
    // The view has the entry of the first one.
    await sendAgain(known({ outcome: 'delivered', turn: 3, sentAgain: true }), RESEND);
    expect(fixture.waiting.map(({ delivery }) => delivery.turn)).toEqual([3, 5]);
    expect(await attempts()).toBe(1);
  });

  it.each(['delivered', 'exhausted', 'cancelled'] as const)(
    'of what was %s, and of which nothing waits, leaves no mark: every dispatcher would keep it for a day',
    async (outcome) => {
      await sendAgain(known({ outcome, turn: 1 }), RESEND);
      expect(marks()).toEqual([]);
      expect(await attempts()).toBe(1);
    },
  );

  it('is not made more than a hundred times, beside the attempts of the schedule', async () => {
    const [one] = known().attempts;
    const made = (count: number) => ({ attempts: Array.from({ length: count }, () => one as ViewAttempt) });
    const most = SCHEDULE.length + 1 + MOST_RESENDS;
    expect(await sendAgain(known(made(most)), RESEND)).toBe('too-often');
    expect(published).toEqual([]);
    expect(await sendAgain(known(made(most - 1)), RESEND)).toBe('put-back');
  });

  it('twice before its attempt is one attempt', async () => {
    await Promise.all([sendAgain(known(WAITING), RESEND), sendAgain(known(WAITING), RESEND)]);
    expect(fixture.waiting).toHaveLength(2);
    expect(await attempts()).toBe(1);
  });

  it.each([
    ['the topic no longer has the record', () => null],
    ['another record is at its place, because the topic was recreated', () => ({ ...RECORD, timestamp: NOW + 1 })],
    ['the record is no payment event', () => ({ ...RECORD, value: Buffer.from('{') })],
    [
      'the record is of another payment',
      () => received(paymentRecord({ value: Buffer.from('{"id":"x","type":"cash_in","accountId":42,"data":{}}') })),
    ],
  ])('sends nothing where %s', async (_, record) => {
    kept = record();
    expect(await sendAgain(known(), RESEND)).toBe('gone');
    expect(published).toEqual([]);
  });

  it('sends nothing where the place of the payment is not known', async () => {
    expect(await sendAgain(known({ payment: null }), RESEND)).toBe('gone');
  });

  it.each([
    ['is inactive', () => fixture.accounts.put(webhookOf(1, { isActive: false }))],
    ['was removed', () => fixture.accounts.remove(1)],
    ['is another one with the same id', () => fixture.accounts.put(webhookOf(1, { addedBy: 'another history' }))],
  ])('sends nothing where the webhook %s', async (_, change) => {
    change();
    expect(await sendAgain(known(), RESEND)).toBe('inactive');
    expect(published).toEqual([]);
  });

  it('leaves out headers that are not of the event where its tier refuses them, or is refused', async () => {
    kept = { ...RECORD, headers: [['x-large', Buffer.alloc(10_000)]] };
    fixture.broker.mostRecordBytes = 5_000;
    expect(await sendAgain(known(), RESEND)).toBe('put-back');
    published = [];
    fixture.broker.refusing.add('webhooks.retry.0s');
    expect(await sendAgain(known(), RESEND)).toBe('refused');
    expect(published).toEqual([]);
  });

  it('killed after each publication, and asked for again, is one attempt of the new turn, and nothing is lost', async () => {
    for (const count of [0, 1, 2]) {
      fixture.broker.forget();
      fixture.requests.length = 0;
      published = [];
      failsAfter = count;
      await expect(sendAgain(known(WAITING), RESEND)).rejects.toThrow(BrokerUnavailable);
      failsAfter = Number.POSITIVE_INFINITY;
      expect(await sendAgain(known(WAITING), RESEND)).toBe('put-back');
      expect(await attempts()).toBe(1);
      expect(marks().map(({ turn }) => turn)).toEqual(count < 2 ? [4] : [4, 4]);
    }
  });
});

describe('of a resend that waits, a cancellation', () => {
  const HELD = { outcome: 'exhausted', held: true, turn: 4 } as const;

  /** The view's answer after the log's entries so far. */
  function asLogged(then: DeliveryDetail): DeliveryDetail {
    const last = entries().at(-1);
    const { turn = 0, before = null, held = false, step = null } = last ?? {};
    const outcome = then.outcome === 'delivered' ? 'delivered' : (last?.outcome ?? then.outcome);
    return { ...then, outcome, turn, before, held, step };
  }

  it.each([
    ['exhausted', { outcome: 'exhausted', turn: 4 }, { outcome: 'exhausted' }],
    ['held', HELD, { outcome: 'exhausted', held: true }],
    ['cancelled', { outcome: 'cancelled', turn: 4 }, { outcome: 'cancelled' }],
    // The entry that says delivered outranks it.
    ['delivered', { outcome: 'delivered', turn: 4 }, { outcome: 'cancelled' }],
  ] as const)('is what it was: %s; the attempt is not made', async (_, was, expected) => {
    const ended = known(was);
    await sendAgain(ended, RESEND);
    const waiting = asLogged(ended);
    expect(waiting.before).toEqual({ ...was });
    published = [];
    await cancelDelivery(parts(), waiting);
    expect(published).toEqual(['webhooks.deliveries', 'webhooks.superseded']);
    expect(entries().at(-1)).toMatchObject({ ...expected, turn: 7, attempt: null, before: was });
    expect(await attempts()).toBe(0);
  });

  it('after a second resend, and of a resend after a cancellation, is what it was at first', async () => {
    let now = known(HELD);
    for (const _ of ['once', 'again']) {
      await sendAgain(now, RESEND);
      now = asLogged(now);
      await sendAgain(now, RESEND);
      await cancelDelivery(parts(), asLogged(now));
      now = asLogged(now);
      expect(now).toMatchObject({ outcome: 'exhausted', held: true, before: HELD });
    }
    expect(await attempts()).toBe(0);
  });

  it('that was interrupted before its mark is completed by the next one', async () => {
    const ended = known(HELD);
    await sendAgain(ended, RESEND);
    failsAfter = published.length + 1;
    await expect(cancelDelivery(parts(), asLogged(ended))).rejects.toThrow(BrokerUnavailable);
    failsAfter = Number.POSITIVE_INFINITY;
    const count = entries().length;
    await cancelDelivery(parts(), asLogged(ended));
    expect([entries().length, await attempts()]).toEqual([count, 0]);
  });
});

describe('a cancellation', () => {
  it('is logged before the waiting record is superseded', async () => {
    await cancelDelivery(parts(), known(WAITING));
    expect(published).toEqual(['webhooks.deliveries', 'webhooks.superseded']);
    expect(entries()).toEqual([expect.objectContaining({ outcome: 'cancelled', turn: 4, attempt: null })]);
    expect(marks()).toEqual([expect.objectContaining({ turn: 4 })]);
  });

  it('that was interrupted before its mark is completed by the next one', async () => {
    failsAfter = 1;
    await expect(cancelDelivery(parts(), known(WAITING))).rejects.toThrow(BrokerUnavailable);
    failsAfter = Number.POSITIVE_INFINITY;
    await cancelDelivery(parts(), known({ outcome: 'cancelled', turn: 4 }));
    expect([entries().length, marks()]).toEqual([1, [expect.objectContaining({ turn: 4 })]]);
  });

  it('of a CloudEvent names its source, which is part of its identity', async () => {
    const value = { specversion: '1.0', id: 'pay-1', source: '/ledger', type: 'cash_in', accountid: 42, data: {} };
    const headers = [['content-type', Buffer.from('application/cloudevents+json')]] as const;
    kept = received({ key: null, value: Buffer.from(JSON.stringify(value)), headers });
    const event = { ...EVENT, cloudEvent: { source: '/ledger', mode: 'structured' } } as PaymentEvent;
    const { id } = newDelivery(event, named(1), kept);
    await cancelDelivery(parts(), known({ ...WAITING, id, payment: paymentText(placeOf(kept)) }));
    expect(entries()).toEqual([expect.objectContaining({ eventSource: '/ledger' })]);
  });
});
