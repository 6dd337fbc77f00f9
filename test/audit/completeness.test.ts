import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Counts } from '../../src/audit/report.js';
import { fromRetryRecord, newDelivery, toRetryRecord } from '../../src/delivery/delivery.js';
import type { PaymentEvent } from '../../src/delivery/payment-event.js';
import type { WebhookEvent } from '../../src/webhooks/events.js';
import { AuditFixture, delivery, TOPICS } from '../support/audit-fixture.js';
import { header, named, paymentRecord } from '../support/delivery-samples.js';
import { added, registered } from '../support/webhook-samples.js';

const FROM = Date.parse('2026-11-21T00:00:00.000Z');
const TO = Date.parse('2026-11-22T00:00:00.000Z');
const NOON = Date.parse('2026-11-21T12:00:00.000Z');
const TEN_MINUTES = 600_000;
const PERIOD = { from: FROM, to: TO };
const iso = (at: number) => new Date(at).toISOString();
const pay = (id: string, accountId = 42): PaymentEvent => ({ id, type: 'cash_in', accountId });
const ZERO: Counts = {
  ...{ records: 0, events: 0, invalid: 0, unreadable: 0, notDue: 0, deliveries: 0 },
  ...{ delivered: 0, exhausted: 0, cancelled: 0, inactive: 0, retrying: {}, unanswered: 0 },
};

let topics: AuditFixture;
beforeEach(() => {
  topics = new AuditFixture();
  // Since the third of November: two webhooks of account 42, one of 43.
  topics.happened(42, registered(), added(1), added(2));
  topics.happened(43, registered(43), added(3));
});

const removed = (webhookId: number, at: number): WebhookEvent => ({
  type: 'WebhookRemoved',
  data: { webhookId, removedAt: iso(at) },
});

const deactivated = (webhookId: number, at: number): WebhookEvent => ({
  type: 'WebhookDeactivated',
  data: { webhookId, reason: '', deactivatedAt: iso(at) },
});

async function told(account: number | null = null) {
  const report = await topics.audit({ ...PERIOD, account });
  return { counts: report.counts(), open: [...report.open()], unanswered: [...report.unanswered()] };
}

describe('the records of a period', () => {
  test('are those from its beginning on and before its end', async () => {
    for (const [at, id] of [
      [FROM - 1, 'early'],
      [FROM, 'first'],
      [TO - 1, 'last'],
      [TO, 'late'],
    ] as const) {
      topics.published(pay(id, 43), { at });
    }
    const { counts, unanswered } = await told();
    expect(counts).toEqual({ ...ZERO, records: 2, events: 2, deliveries: 2, unanswered: 2 });
    expect(unanswered.map(({ eventId }) => eventId)).toEqual(['first', 'last']);
  });

  test('are those of all payment topics', async () => {
    topics.published(pay('one', 43), { at: NOON });
    topics.published(pay('two', 43), { at: NOON }, TOPICS.payments[1]);
    expect((await told()).counts).toMatchObject({ records: 2, events: 2, unanswered: 2 });
  });

  test('none: nothing but the payment topics is read', async () => {
    expect(await told()).toEqual({ counts: ZERO, open: [], unanswered: [] });
    expect(topics.browsed).toEqual([...TOPICS.payments, TOPICS.deliveries]);
  });

  test('of unknown accounts and of types without a URL are complete', async () => {
    topics.published(pay('unknown', 99), { at: NOON });
    topics.published({ ...pay('no-url'), type: 'cash_out' }, { at: NOON });
    topics.published({ id: 'odd', type: 'cash_in', accountId: -0 }, { at: NOON });
    expect((await told()).counts).toEqual({ ...ZERO, records: 3, events: 3, notDue: 3 });
  });

  test('published before the webhook was added are not due to it', async () => {
    topics.happened(43, added(4, { createdAt: iso(NOON + 1) }));
    topics.published(pay('one', 43), { at: NOON });
    topics.published(pay('two', 43), { at: NOON + 1 });
    expect((await told()).counts).toMatchObject({ deliveries: 3 });
  });

  test('a history is read once per account, however many records there are', async () => {
    for (let n = 0; n < 5; n += 1) topics.published(pay(`event-${n}`, n % 2 ? 42 : 43), { at: NOON });
    await told();
    expect(topics.historiesRead).toBe(2);
  });
});

describe('a record that is no payment event', () => {
  test('is answered by a dead letter of its place, and by no other', async () => {
    const known = topics.published('not json', { at: NOON, partition: 3 });
    topics.published('not json', { at: NOON, partition: 3 });
    topics.published('not json', { at: NOON, partition: 3 }, TOPICS.payments[1]);
    topics.notValid(known);
    const source = header('aw-source', 'payments/3/1');
    topics.put(TOPICS.deadLetters, { key: null, value: null, headers: [source] });
    const { counts, unanswered } = await told();
    expect(counts).toEqual({ ...ZERO, records: 3, invalid: 3, unanswered: 2 });
    const nobody = { id: null, eventId: null, accountId: null, webhookId: null };
    const why = 'it is no payment event, and not among the dead letters';
    expect(unanswered).toEqual([
      { kind: 'unanswered', why, ...nobody, source: 'payments/3/1' },
      { kind: 'unanswered', why, ...nobody, source: 'more-payments/3/0' },
    ]);
  });
});

describe('what became of a delivery', () => {
  const event = pay('pay-1', 43);
  const toThree = delivery(event, 3);
  const answer = async () => {
    topics.published(event, { at: NOON });
    const { counts, open, unanswered } = await told();
    const { records, events, deliveries, ...outcomes } = counts;
    expect({ records, events, deliveries }).toEqual({ records: 1, events: 1, deliveries: 1 });
    return { outcomes, open, unanswered };
  };

  test.each(['delivered', 'cancelled'] as const)('%s', async (outcome) => {
    topics.logged(toThree, outcome);
    expect(await answer()).toMatchObject({ outcomes: { [outcome]: 1, unanswered: 0 }, open: [], unanswered: [] });
  });

  test('exhausted, where its dead letter is there; no tier has to be read', async () => {
    topics.waits(toThree, '5s', NOON);
    topics.logged(toThree, 'exhausted');
    topics.exhausted(toThree);
    expect((await answer()).outcomes).toMatchObject({ exhausted: 1, unanswered: 0 });
    expect(topics.browsed).not.toContain('test.webhooks.retry.5s');
  });

  test('of another history, where its dead letter says so: an end, and nothing was delivered', async () => {
    topics.waits(toThree, '5s', NOON);
    topics.logged(toThree, 'exhausted');
    topics.ofOtherHistory(toThree);
    const { outcomes, unanswered } = await answer();
    expect(outcomes).toMatchObject({ exhausted: 1, delivered: 0, unanswered: 0 });
    expect(unanswered).toEqual([]);
  });

  test('of another history, with its dead letter and its entry lost', async () => {
    topics.ofOtherHistory(toThree, { at: NOON });
    expect((await answer()).outcomes).toMatchObject({ exhausted: 1, unanswered: 0 });
  });

  test('exhausted without a dead letter of that delivery is no answer', async () => {
    topics.logged(toThree, 'exhausted');
    topics.exhausted(delivery(event, 4));
    topics.notValid(topics.put('elsewhere', { ...toRetryRecord(toThree, NOON), value: null }));
    const { outcomes, unanswered } = await answer();
    expect(outcomes).toMatchObject({ exhausted: 0, unanswered: 1 });
    expect(unanswered).toMatchObject([{ eventId: 'pay-1', why: 'it is exhausted, and not among the dead letters' }]);
  });

  test('retrying, in the tier of its latest retry record', async () => {
    topics.waits(toThree, '5s', NOON + 5_000);
    topics.waits(toThree, '30m', NOON + 9_000);
    topics.waits(toThree, '5s', NOON + 1_000);
    topics.waits(delivery(event, 4), '24h', NOON + 99_000);
    topics.logged(toThree, 'retrying', NOON + 5_000);
    topics.logged(toThree, 'retrying', NOON + 9_000);
    const { outcomes, open } = await answer();
    expect(outcomes).toMatchObject({ retrying: { '30m': 1 }, unanswered: 0 });
    const about = { id: toThree.id, eventId: 'pay-1', accountId: 43, webhookId: 3 };
    expect(open).toEqual([{ kind: 'open', ...about, tier: '30m', nextAttemptAt: iso(NOON + 9_000) }]);
  });

  test('retrying, and only the retry record of an earlier try is there: no answer', async () => {
    topics.waits(toThree, '5s', NOON + 5_000);
    topics.logged(toThree, 'retrying', NOON + 5_000);
    topics.logged(toThree, 'retrying', NOON + 9_000);
    const { unanswered } = await answer();
    expect(unanswered).toMatchObject([{ id: toThree.id, why: 'it is to be tried again, and in no tier' }]);
  });

  test('nothing logged: no answer', async () => {
    const { outcomes, unanswered } = await answer();
    expect(outcomes).toMatchObject({ unanswered: 1 });
    const about = { id: toThree.id, eventId: 'pay-1', accountId: 43, webhookId: 3, source: null };
    expect(unanswered).toEqual([{ kind: 'unanswered', ...about, why: 'nothing is logged of it' }]);
  });

  test.each([
    ['removed', removed],
    ['deactivated', deactivated],
  ])('nothing logged, and the webhook was %s within ten minutes of it: inactive', async (_, change) => {
    topics.happened(43, change(3, NOON + TEN_MINUTES));
    expect((await answer()).outcomes).toMatchObject({ cancelled: 0, inactive: 1, unanswered: 0 });
  });

  test.each([
    ['removed', 'a moment', removed, NOON + TEN_MINUTES + 1],
    ['deactivated', 'a moment', deactivated, NOON + TEN_MINUTES + 1],
    ['deactivated', 'months', deactivated, Date.parse('2027-03-01T00:00:00.000Z')],
  ])('nothing logged, and the webhook was %s %s after those: no answer still', async (_, __, change, at) => {
    topics.happened(43, change(3, at));
    const { outcomes, unanswered } = await answer();
    expect(outcomes).toMatchObject({ cancelled: 0, inactive: 0, unanswered: 1 });
    expect(unanswered).toMatchObject([{ id: toThree.id, why: 'nothing is logged of it' }]);
  });

  test('nothing logged, and the webhook was off for a time long after: no answer still', async () => {
    const later = NOON + 2 * TEN_MINUTES;
    const again: WebhookEvent = { type: 'WebhookActivated', data: { webhookId: 3, activatedAt: iso(later + 1) } };
    topics.happened(43, deactivated(3, later), again, deactivated(3, later + 2));
    expect((await answer()).outcomes).toMatchObject({ inactive: 0, unanswered: 1 });
  });

  test.each(['delivered', 'cancelled'] as const)('%s by record, whenever the webhook was removed', async (outcome) => {
    topics.happened(43, removed(3, NOON + 1));
    topics.logged(toThree, outcome);
    expect((await answer()).outcomes).toMatchObject({ [outcome]: 1, inactive: 0, unanswered: 0 });
  });

  test('logged, though the webhook was added after it was published: it counts as well', async () => {
    topics.happened(43, added(5, { createdAt: iso(NOON + 1) }));
    topics.published(event, { at: NOON });
    topics.logged(toThree, 'delivered');
    topics.logged(delivery(event, 5), 'retrying', NOON);
    const { counts, unanswered } = await told();
    expect(counts).toMatchObject({ deliveries: 2, delivered: 1, unanswered: 1 });
    expect(unanswered).toMatchObject([{ webhookId: 5 }]);
  });

  test('the outcome after a replay counts', async () => {
    topics.logged(toThree, 'exhausted');
    topics.exhausted(toThree);
    const replayed = { ...toThree, turn: 1 };
    topics.logged(replayed, 'retrying', NOON);
    topics.waits(replayed, '5s', NOON);
    expect((await answer()).outcomes).toMatchObject({ retrying: { '5s': 1 }, exhausted: 0 });
    topics.logged({ ...replayed, turn: 2 }, 'delivered');
    expect((await told()).counts).toMatchObject({ delivered: 1, exhausted: 0, retrying: {} });
  });

  test('an end is not undone by an older entry that is read later, in another partition', async () => {
    topics.logged(toThree, 'delivered', null, { partition: 1, at: NOON + 2 });
    topics.logged(toThree, 'retrying', NOON, { partition: 0, at: NOON + 1 });
    expect((await answer()).outcomes).toMatchObject({ delivered: 1, unanswered: 0 });
  });

  test('nothing logged, and put back after its last dead letter: it waits', async () => {
    topics.exhausted(toThree, { at: NOON + 3, partition: 0 });
    topics.exhausted(toThree, { at: NOON + 1, partition: 1 });
    topics.waits(toThree, '5s', NOON + 2);
    expect((await answer()).outcomes).toMatchObject({ exhausted: 1 });
    topics.waits(toThree, '5s', NOON + 3);
    expect((await told()).counts).toMatchObject({ exhausted: 0, retrying: { '5s': 1 } });
  });

  test('of one partition the last entry counts, whatever their times', async () => {
    topics.logged(toThree, 'retrying', NOON, { at: NOON + 2 });
    topics.logged(toThree, 'delivered', null, { at: NOON + 1 });
    expect((await answer()).outcomes).toMatchObject({ delivered: 1 });
  });

  test('what others put into the topics is passed over', async () => {
    const about = { id: toThree.id, eventId: 'pay-1', accountId: 43, webhookId: 3 };
    const entry = { ...about, outcome: 'delivered', nextAttemptAt: null };
    const rubbish = [null, 'text', {}, { ...entry, outcome: 'lost' }, { ...entry, webhookId: '3' }];
    const wrong = [...rubbish, { ...entry, nextAttemptAt: 5 }, { ...entry, accountId: 44 }, { ...entry, eventId: {} }];
    for (const text of ['', 'not JSON', ...wrong.map((value) => JSON.stringify(value))]) {
      topics.put(TOPICS.deliveries, { key: null, value: Buffer.from(text), headers: [] });
      topics.put('test.webhooks.retry.5s', { key: null, value: Buffer.from(text), headers: [] });
      topics.put(TOPICS.deadLetters, { key: null, value: Buffer.from(text), headers: [] });
    }
    expect((await answer()).outcomes).toMatchObject({ delivered: 0, unanswered: 1 });
  });

  test('a retry record that names no time a Date can say is told as the last it can', async () => {
    topics.waits(toThree, '5s', Number.MAX_SAFE_INTEGER);
    topics.logged(toThree, 'retrying', NOON);
    expect((await answer()).open).toMatchObject([{ nextAttemptAt: '+275760-09-13T00:00:00.000Z' }]);
  });

  test('event ids that no UTF-8 tells apart are two events', async () => {
    for (const [id, tier] of [
      ['\ud800', '5s'],
      ['\ud801', '30m'],
    ] as const) {
      topics.published(pay(id, 43), { at: NOON });
      topics.waits(delivery(pay(id, 43), 3), tier, NOON);
      topics.logged(delivery(pay(id, 43), 3), 'retrying', NOON);
    }
    expect((await told()).counts).toMatchObject({ events: 2, retrying: { '5s': 1, '30m': 1 }, unanswered: 0 });
  });
});

describe('an event that was published twice', () => {
  test('is one event at each URL; its records are two', async () => {
    for (const at of [NOON, NOON + 1]) topics.published(pay('again', 43), { at });
    topics.logged(delivery(pay('again', 43), 3), 'delivered');
    topics.logged(delivery(pay('again', 43), 3), 'delivered');
    expect((await told()).counts).toEqual({ ...ZERO, records: 2, events: 1, deliveries: 1, delivered: 1 });
  });

  test('under two accounts is two events', async () => {
    for (const account of [42, 43]) topics.published(pay('same', account), { at: NOON });
    expect((await told()).counts).toMatchObject({ records: 2, events: 2, deliveries: 3 });
  });

  test('is due to the webhooks of either time; inactive only where the webhook went soon after both', async () => {
    topics.happened(43, added(5, { createdAt: iso(NOON + 2) }), removed(3, NOON + 4), removed(5, NOON + 9));
    for (const at of [NOON, NOON + 3]) topics.published(pay('again', 43), { at });
    expect((await told()).counts).toMatchObject({ events: 1, deliveries: 2, inactive: 2 });
    topics.happened(43, added(3, { createdAt: iso(NOON + 10) }));
    topics.published(pay('again', 43), { at: NOON + 11 });
    expect((await told()).counts).toMatchObject({ events: 1, deliveries: 2, inactive: 1, unanswered: 1 });
    // Read later, published earlier.
    topics.published(pay('again', 43), { at: NOON, partition: 1 });
    expect((await told()).counts).toMatchObject({ events: 1, deliveries: 2, inactive: 1, unanswered: 1 });
  });

  test('is not inactive where the webhook went soon after the last time, long after the first', async () => {
    topics.happened(43, removed(3, NOON + 2 * TEN_MINUTES));
    for (const at of [NOON, NOON + 2 * TEN_MINUTES - 1]) topics.published(pay('again', 43), { at });
    expect((await told()).counts).toMatchObject({ events: 1, deliveries: 1, inactive: 0, unanswered: 1 });
  });
});

describe('of one account', () => {
  test('only its records count; a record that is no event by its key', async () => {
    topics.published(pay('mine'), { at: NOON });
    topics.published(pay('other', 43), { at: NOON });
    topics.published('nobody', { at: NOON });
    for (const key of ['42', '43', '042', 'x']) {
      topics.put(TOPICS.payments[0], { key: Buffer.from(key), value: Buffer.from('{}'), headers: [] }, { at: NOON });
    }
    expect((await told(42)).counts).toMatchObject({ records: 2, events: 1, invalid: 1, deliveries: 2, unanswered: 3 });
    expect((await told()).counts).toMatchObject({ records: 7, events: 2, invalid: 5 });
  });
});

describe('a payment topic that begins within the period', () => {
  test.each<readonly [string, number, number, boolean]>([
    ['with its very first record: nothing is missing', 0, NOON, false],
    ['with a later record of before the period: nothing is missing', 5, FROM, false],
    ['with a later record: those before it may be missing', 5, NOON, true],
  ])('%s', async (_, offset, at, lacks) => {
    topics.published(pay('one', 43), { at: FROM });
    topics.published(pay('two', 43), { at, offset, partition: 1 });
    topics.published(pay('three', 43), { at: NOON + 9, offset: offset + 1, partition: 1 });
    await told();
    expect(topics.lacking).toEqual(lacks ? [['payments', NOON]] : []);
  });
});

describe('what is one event', () => {
  const ofSource = (source: string) => ({ ...pay('pay-1', 43), cloudEvent: { source, mode: 'structured' as const } });
  const recordOf = ({ id, accountId, cloudEvent }: ReturnType<typeof ofSource>) => {
    const { source } = cloudEvent;
    return JSON.stringify({ specversion: '1.0', id, source, type: 'com.example.cash_in', data: { accountId } });
  };

  test('of CloudEvents, source and id: an entry of one says nothing of another', async () => {
    const [one, other] = [ofSource('/one'), ofSource('/other')];
    for (const text of [recordOf(one), recordOf(other), recordOf(one)]) topics.published(text, { at: NOON });
    topics.published(pay('pay-1', 43), { at: NOON });
    topics.logged(newDelivery(one, named(3), paymentRecord()), 'delivered');
    const { counts, unanswered } = await told();
    expect(counts).toMatchObject({ records: 4, events: 3, deliveries: 3, delivered: 1, unanswered: 2 });
    expect(unanswered.map(({ eventId, eventSource }) => [eventId, eventSource])).toEqual([
      ['pay-1', '/other'],
      ['pay-1', undefined],
    ]);
    const waits = newDelivery(other, named(3), paymentRecord());
    topics.waits(waits, '5s', NOON);
    const { open } = await told();
    expect(open).toMatchObject([{ id: waits.id, eventId: 'pay-1', eventSource: '/other' }]);
  });

  test('an id with half a surrogate pair is the same after a tier', async () => {
    const event = pay('\ud800', 43);
    topics.published(event, { at: NOON });
    const record = toRetryRecord(newDelivery(event, named(3), paymentRecord()), NOON);
    const again = fromRetryRecord(record);
    if (again) topics.logged(again, 'delivered');
    expect((await told()).counts).toMatchObject({ deliveries: 1, delivered: 1 });
  });
});
