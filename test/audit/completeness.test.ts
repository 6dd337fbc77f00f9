import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Counts } from '../../src/audit/tally.js';
import { fromRetryRecord, newDelivery, toRetryRecord } from '../../src/delivery/delivery.js';
import type { PaymentEvent } from '../../src/delivery/payment/payment-event.js';
import type { ReceivedRecord } from '../../src/ports/broker.js';
import type { WebhookEvent } from '../../src/webhooks/events.js';
import { AuditFixture, delivery, type Placed, TOPICS } from '../support/audit-fixture.js';
import { header, named } from '../support/delivery-samples.js';
import { AT, added, registered } from '../support/webhook-samples.js';

const FROM = Date.parse('2026-11-21T00:00:00.000Z');
const TO = Date.parse('2026-11-22T00:00:00.000Z');
const NOON = Date.parse('2026-11-21T12:00:00.000Z');
const PERIOD = { from: FROM, to: TO };
const TIER = 'test.webhooks.retry.5s';
const [PAYMENTS] = TOPICS.payments;
const iso = (at: number) => new Date(at).toISOString();
const pay = (id: string, accountId = 42): PaymentEvent => ({ id, type: 'cash_in', accountId });
const ZERO: Counts = {
  ...{ records: 0, events: 0, invalid: 0, unreadable: 0, earlier: 0, notDue: 0, deliveries: 0, delivered: 0 },
  ...{ exhausted: 0, cancelled: 0, retrying: {}, waiting: 0, unanswered: 0, unexpected: 0 },
};
/** Of account 43: webhook 3 is there from revision 1 on. */
const THREE = { routed: 1, confirmed: 1, webhooks: [3] };

let topics: AuditFixture;
beforeEach(() => {
  topics = new AuditFixture();
  topics.happened(42, registered(), added(1), added(2));
  topics.happened(43, registered(43), added(3));
});

const removed = (webhookId: number): WebhookEvent => ({ type: 'WebhookRemoved', data: { webhookId, removedAt: AT } });

/** A payment of account 43 that was routed to webhook 3. */
function paid(id: string, placed: Placed = { at: NOON }, topic: string = PAYMENTS): ReceivedRecord {
  const record = topics.published(pay(id, 43), placed, topic);
  topics.routed(record, 43, THREE);
  return record;
}

async function told(account: number | null = null) {
  const report = await topics.audit({ ...PERIOD, account });
  const { lost } = report;
  const counts = report.counts();
  const lists = {
    open: [...report.open()],
    unanswered: [...report.unanswered()],
    unexpected: [...report.unexpected()],
  };
  expect(lists.unanswered).toHaveLength(counts.unanswered);
  expect(lists.unexpected).toHaveLength(counts.unexpected);
  return { counts, lost, ...lists };
}

describe('the records of a period', () => {
  test('are those from its beginning on and before its end', async () => {
    for (const [at, id] of [
      [FROM - 1, 'early'],
      [FROM, 'first'],
      [TO - 1, 'last'],
      [TO, 'late'],
    ] as const) {
      paid(id, { at });
    }
    const { counts, unanswered } = await told();
    expect(counts).toEqual({ ...ZERO, records: 2, events: 2, deliveries: 2, unanswered: 2 });
    expect(unanswered.map(({ eventId }) => eventId)).toEqual(['first', 'last']);
  });

  test('are those of all payment topics', async () => {
    paid('one');
    paid('two', { at: NOON }, TOPICS.payments[1]);
    expect((await told()).counts).toMatchObject({ records: 2, events: 2, unanswered: 2 });
  });

  test('none: nothing but payments and entries is read', async () => {
    expect(await told()).toEqual({ counts: ZERO, lost: [], open: [], unanswered: [], unexpected: [] });
    expect(topics.browsed).toEqual([...TOPICS.payments, TOPICS.deliveries]);
  });

  test('of unknown accounts and of types without a URL are complete', async () => {
    const unknown = topics.published(pay('unknown', 99), { at: NOON });
    topics.routed(unknown, 99, { routed: -1, confirmed: -1, webhooks: [] });
    const none = { routed: 2, confirmed: 2, webhooks: [] };
    topics.routed(topics.published({ ...pay('no-url'), type: 'cash_out' }, { at: NOON }), 42, none);
    expect((await told()).counts).toEqual({ ...ZERO, records: 2, events: 2, notDue: 2 });
  });

  test('of one account are its own; a record that is no event goes by its key', async () => {
    topics.routed(topics.published(pay('mine'), { at: NOON }), 42, { routed: 2, confirmed: 2, webhooks: [1, 2] });
    paid('other');
    topics.published('nobody', { at: NOON });
    for (const key of ['42', '43', '042', 'x']) {
      topics.put(PAYMENTS, { key: Buffer.from(key), value: Buffer.from('{}'), headers: [] }, { at: NOON });
    }
    const of42 = await told(42);
    expect(of42.counts).toMatchObject({ records: 2, events: 1, invalid: 1, deliveries: 2, unanswered: 3 });
    expect(of42.lost).toEqual([]);
    expect((await told()).counts).toMatchObject({ records: 7, events: 2, invalid: 5 });
  });

  test('read a history once per account', async () => {
    for (let n = 0; n < 5; n += 1) paid(`event-${n}`);
    await told();
    expect(topics.historiesRead).toBe(1);
  });
});

describe('a record that its consumer is done with', () => {
  test('and that no entry names has no answer', async () => {
    topics.published(pay('none', 43), { at: NOON });
    paid('behind', { at: NOON, partition: 1 });
    const { counts, unanswered } = await told();
    expect(counts).toMatchObject({ records: 2, notDue: 0, deliveries: 1, unanswered: 2 });
    const why = 'done, but no entry says where it was routed';
    expect(unanswered[0]).toEqual({
      ...{ kind: 'unanswered', why, id: null, eventId: 'none', accountId: 43, webhookId: null, source: 'payments/0/0' },
    });
  });

  test('and is no payment event is answered by a dead letter of its place, and by no other', async () => {
    const known = topics.published('not json', { at: NOON, partition: 3 });
    topics.published('not json', { at: NOON, partition: 3 });
    topics.published('not json', { at: NOON, partition: 3 }, TOPICS.payments[1]);
    topics.notValid(known);
    const source = header('aw-source', 'payments/3/1');
    topics.put(TOPICS.deadLetters, { key: null, value: null, headers: [source] });
    const { counts, unanswered } = await told();
    expect(counts).toEqual({ ...ZERO, records: 3, invalid: 3, unanswered: 2 });
    const why = 'not a payment event, but missing from the dead letters';
    const nobody = { kind: 'unanswered', why, id: null, eventId: null, accountId: null, webhookId: null };
    expect(unanswered).toEqual([
      { ...nobody, source: 'payments/3/1' },
      { ...nobody, source: 'more-payments/3/0' },
    ]);
  });

  test('and whose account could not be read is answered by the letter of that record', async () => {
    const known = topics.published(pay('known', 43), { at: NOON });
    topics.published(pay('unknown', 43), { at: NOON });
    topics.unrouted(known, pay('known', 43));
    // Of a former topic of that name.
    topics.unrouted({ ...known, offset: 1, timestamp: NOON - 1 }, pay('unknown', 43));
    const { counts, unanswered } = await told();
    expect(counts).toEqual({ ...ZERO, records: 2, events: 2, unanswered: 1 });
    expect(unanswered).toMatchObject([{ eventId: 'unknown' }]);
  });

  test('and was buried as a whole is answered, though it is a payment event', async () => {
    topics.notValid(topics.published(pay('odd', 43), { at: NOON }));
    expect((await told()).counts).toEqual({ ...ZERO, records: 1, events: 1 });
  });
});

describe('a record that its consumer is not done with', () => {
  test('waits, and its deliveries with it', async () => {
    topics.published(pay('none', 43), { at: NOON });
    const record = paid('routed');
    paid('delivered');
    topics.logged(delivery(pay('delivered', 43), 3, topics.published(pay('delivered', 43), { at: NOON })), 'delivered');
    topics.published('not json', { at: NOON });
    topics.logged(delivery(pay('routed', 43), 3, record), 'exhausted');
    topics.commit(PAYMENTS, 0);
    const { counts } = await told();
    expect(counts).toMatchObject({ records: 5, invalid: 1, deliveries: 3, delivered: 1, waiting: 5, unanswered: 0 });
  });

  test('is what was published while a POST is under way, too: nothing is lost', async () => {
    for (let n = 0; n < 3; n += 1) topics.published(pay(`late-${n}`, 43), { at: NOON });
    topics.commit(PAYMENTS, 0);
    expect((await told()).counts).toEqual({ ...ZERO, records: 3, events: 3, waiting: 3 });
  });

  test('ends at the offset where its group stands: moved ahead, what was never sent has no answer', async () => {
    for (let n = 0; n < 5; n += 1) topics.published(pay(`never-${n}`, 43), { at: NOON });
    topics.commit(PAYMENTS, 5);
    expect((await told()).counts).toMatchObject({ waiting: 0, unanswered: 5 });
  });
});

describe('what became of a delivery', () => {
  const event = pay('pay-1', 43);
  let record: ReceivedRecord;
  let toThree: ReturnType<typeof delivery>;
  beforeEach(() => {
    record = paid('pay-1');
    toThree = delivery(event, 3, record);
  });

  const answer = async () => {
    const { counts, ...lists } = await told();
    expect(counts).toMatchObject({ records: 1, events: 1, deliveries: 1 });
    return { counts, ...lists };
  };

  test.each(['delivered', 'cancelled'] as const)('%s', async (outcome) => {
    topics.logged(toThree, outcome);
    expect(await answer()).toMatchObject({ counts: { [outcome]: 1, unanswered: 0 }, open: [], unanswered: [] });
  });

  test('exhausted, where its dead letter is there; no tier has to be read', async () => {
    topics.waits(toThree, '5s', NOON);
    topics.logged(toThree, 'exhausted');
    topics.exhausted(toThree);
    expect((await answer()).counts).toMatchObject({ exhausted: 1, unanswered: 0 });
    expect(topics.browsed).not.toContain(TIER);
  });

  test('of another history, where its dead letter says so: an end, with its entry or without', async () => {
    topics.ofOtherHistory(toThree, { at: NOON });
    expect((await answer()).counts).toMatchObject({ exhausted: 1, unanswered: 0 });
    topics.logged(toThree, 'exhausted');
    expect((await answer()).counts).toMatchObject({ exhausted: 1, unanswered: 0 });
  });

  test('of an account that could not be read, where its dead letter says so', async () => {
    topics.unreadable(toThree);
    expect((await answer()).counts).toMatchObject({ exhausted: 1, unanswered: 0 });
  });

  test('exhausted without a dead letter of that delivery is no answer', async () => {
    topics.logged(toThree, 'exhausted');
    topics.exhausted(delivery(event, 4, record));
    topics.exhausted(delivery(event, 3));
    topics.notValid(topics.put('elsewhere', { ...toRetryRecord(toThree, NOON), value: null }));
    const { counts, unanswered } = await answer();
    expect(counts).toMatchObject({ exhausted: 0, unanswered: 1 });
    expect(unanswered).toMatchObject([{ eventId: 'pay-1', why: 'exhausted, but missing from the dead letters' }]);
  });

  test('retrying, in the tier of its latest retry record', async () => {
    topics.waits(toThree, '5s', NOON + 5_000);
    topics.waits({ ...toThree, turn: 1 }, '30m', NOON + 9_000);
    topics.waits(delivery(event, 4, record), '24h', NOON + 99_000);
    topics.logged({ ...toThree, turn: 1 }, 'retrying', NOON + 9_000);
    const { counts, open } = await answer();
    expect(counts).toMatchObject({ retrying: { '30m': 1 }, unanswered: 0 });
    const about = { id: toThree.id, eventId: 'pay-1', accountId: 43, webhookId: 3, source: 'payments/0/0' };
    expect(open).toEqual([{ kind: 'open', ...about, tier: '30m', nextAttemptAt: iso(NOON + 9_000) }]);
  });

  test('retrying, and its tier is done with that record: no answer, however long it is not due', async () => {
    topics.waits(toThree, '5s', NOON + 5_000);
    topics.logged(toThree, 'retrying', NOON + 5_000);
    topics.commit(TIER, 1);
    expect((await answer()).unanswered).toMatchObject([{ why: 'to be retried, but in no retry tier' }]);
  });

  test('retrying, and parked again, which no entry tells', async () => {
    topics.waits(toThree, '5s', NOON + 5_000);
    topics.logged(toThree, 'retrying', NOON + 5_000);
    topics.waits({ ...toThree, parkings: 1 }, '30m', NOON + 9_000);
    topics.commit(TIER, 1);
    expect((await answer()).counts).toMatchObject({ retrying: { '30m': 1 }, unanswered: 0 });
  });

  test('retrying, and only the retry record of an earlier try is there: no answer', async () => {
    topics.waits(toThree, '5s', NOON + 5_000);
    topics.logged({ ...toThree, turn: 1 }, 'retrying', NOON + 9_000);
    expect((await answer()).unanswered).toMatchObject([{ id: toThree.id, why: 'to be retried, but in no retry tier' }]);
  });

  test('nothing logged: no answer', async () => {
    const about = { id: toThree.id, eventId: 'pay-1', accountId: 43, webhookId: 3, source: 'payments/0/0' };
    expect((await answer()).unanswered).toEqual([{ kind: 'unanswered', ...about, why: 'no record of the delivery' }]);
  });

  test('nothing logged, and its webhook is gone since: no answer still', async () => {
    topics.happened(43, removed(3));
    expect((await answer()).counts).toMatchObject({ unanswered: 1 });
  });

  test('the outcome after a replay counts', async () => {
    topics.logged(toThree, 'exhausted');
    topics.exhausted(toThree);
    const replayed = { ...toThree, turn: 1 };
    topics.logged(replayed, 'retrying', NOON);
    topics.waits(replayed, '5s', NOON);
    expect((await answer()).counts).toMatchObject({ retrying: { '5s': 1 }, exhausted: 0 });
    topics.logged({ ...replayed, turn: 2 }, 'delivered');
    expect((await told()).counts).toMatchObject({ delivered: 1, exhausted: 0, retrying: {} });
  });

  test('an end is not undone by an older entry that is read later, in another partition', async () => {
    topics.logged(toThree, 'delivered', null, { partition: 1, at: NOON + 2 });
    topics.logged(toThree, 'retrying', NOON, { partition: 2, at: NOON + 1 });
    expect((await answer()).counts).toMatchObject({ delivered: 1, unanswered: 0 });
  });

  test('what others put into the topics is passed over', async () => {
    const payment = String(toThree.payment);
    const about = { id: toThree.id, eventId: 'pay-1', accountId: 43, webhookId: 3, payment };
    const entry = { ...about, outcome: 'delivered', nextAttemptAt: null };
    const rubbish = [null, 'text', {}, { ...entry, outcome: 'lost' }, { ...entry, webhookId: '3' }];
    const elsewhere = [
      { ...entry, payment: `${payment}0` },
      { ...entry, payment: 5 },
      { ...entry, payment: '' },
    ];
    const wrong = [
      { ...entry, nextAttemptAt: 5 },
      { ...entry, accountId: 44 },
      { ...entry, eventId: {} },
    ];
    for (const text of [
      '',
      'not JSON',
      ...[...rubbish, ...elsewhere, ...wrong].map((value) => JSON.stringify(value)),
    ]) {
      topics.put(TOPICS.deliveries, { key: null, value: Buffer.from(text), headers: [] });
      topics.put(TIER, { key: null, value: Buffer.from(text), headers: [] });
      topics.put(TOPICS.deadLetters, { key: null, value: Buffer.from(text), headers: [] });
    }
    topics.routed(record, 44, { ...THREE, webhooks: [7] });
    expect((await answer()).counts).toMatchObject({ delivered: 0, unanswered: 1 });
  });

  test('a retry record that names no time a Date can say is told as the last it can', async () => {
    topics.waits(toThree, '5s', Number.MAX_SAFE_INTEGER);
    topics.logged(toThree, 'retrying', NOON);
    expect((await answer()).open).toMatchObject([{ nextAttemptAt: '+275760-09-13T00:00:00.000Z' }]);
  });

  test('an id with half a surrogate pair is the same after a tier', async () => {
    const odd = pay('\ud800', 43);
    const again = fromRetryRecord(toRetryRecord(delivery(odd, 3, paid('\ud800')), NOON));
    if (again) topics.logged(again, 'delivered');
    expect((await told()).counts).toMatchObject({ deliveries: 2, delivered: 1, unanswered: 1 });
  });
});

describe('the webhooks that have to have an answer', () => {
  const routedBy = (...entries: readonly (readonly [routed: number, confirmed: number, ...webhooks: number[]])[]) => {
    const record = topics.published(pay('pay-1', 43), { at: NOON });
    for (const [routed, confirmed, ...webhooks] of entries) topics.routed(record, 43, { routed, confirmed, webhooks });
    return record;
  };
  const missing = async () => (await told()).unanswered.map(({ webhookId }) => webhookId);

  beforeEach(() => {
    // Revisions: 1 adds 3, 2 adds 4, 3 removes 3.
    topics.happened(43, added(4), removed(3));
  });

  test('were active at both revisions of an entry, though it does not list them', async () => {
    routedBy([1, 2]);
    expect(await missing()).toEqual([3]);
  });

  test('whatever clock stamped their events', async () => {
    topics.happened(43, added(5, { createdAt: iso(TO + 86_400_000) }));
    routedBy([4, 4, 4, 5]);
    expect(await missing()).toEqual([4, 5]);
  });

  test('are listed: revealed by the confirmation, or switched off before it', async () => {
    routedBy([1, 2, 3, 4]);
    expect(await missing()).toEqual([3, 4]);
  });

  test('are not those that only an entry lists whose record was handed out once more', async () => {
    routedBy([1, 3, 3, 4], [3, 3, 4]);
    expect(await missing()).toEqual([4]);
  });

  test('are those that all entries list, doubled ones too', async () => {
    routedBy([1, 2, 3, 4], [1, 2, 3, 4], [1, 3, 3, 4]);
    expect(await missing()).toEqual([3, 4]);
  });

  test('are all that an entry by another store lists', async () => {
    const record = topics.published(pay('pay-1', 43), { at: NOON });
    topics.routed(record, 43, { routed: 1, confirmed: 1, webhooks: [7] }, 'another store');
    topics.logged(delivery(pay('pay-1', 43), 8, record), 'delivered');
    expect(await missing()).toEqual([7]);
    expect((await told()).counts).toMatchObject({ deliveries: 2, delivered: 1, unexpected: 0 });
  });

  test('are all that an entry lists whose revisions the store does not have any more', async () => {
    routedBy([9, 9, 7]);
    expect(await missing()).toEqual([7]);
    expect((await told()).counts).toMatchObject({ unexpected: 0 });
  });
});

describe('a webhook that was not active', () => {
  const sent = (webhookId: number, record: ReceivedRecord) =>
    topics.logged(delivery(pay('pay-1', 43), webhookId, record), 'delivered');

  test('at any revision of an entry that lists it is unexpected', async () => {
    topics.happened(43, removed(3), added(4));
    const record = topics.published(pay('pay-1', 43), { at: NOON });
    topics.routed(record, 43, { routed: 2, confirmed: 3, webhooks: [3, 4] });
    for (const id of [3, 4]) sent(id, record);
    const { counts, unexpected } = await told();
    expect(counts).toMatchObject({ delivered: 2, unanswered: 0, unexpected: 1 });
    expect(unexpected).toMatchObject([{ kind: 'unexpected', webhookId: 3, source: 'payments/0/0' }]);
  });

  test('up to the last entry, and got the event, is unexpected; also one of another type', async () => {
    topics.happened(43, added(4), added(5, { eventType: 'cash_out' }));
    const record = paid('pay-1');
    for (const id of [3, 4, 5]) sent(id, record);
    expect((await told()).unexpected).toMatchObject([{ webhookId: 4 }, { webhookId: 5 }]);
  });

  test('at the last entry, and got the event before, is right: the record was handed out before that', async () => {
    topics.happened(43, removed(3));
    const record = topics.published(pay('pay-1', 43), { at: NOON });
    sent(3, record);
    topics.routed(record, 43, { routed: 2, confirmed: 2, webhooks: [] });
    expect((await told()).counts).toMatchObject({ delivered: 1, unexpected: 0 });
  });

  test('is not asked about while the record is open and has no entry', async () => {
    const record = topics.published(pay('pay-1', 43), { at: NOON });
    sent(3, record);
    topics.commit(PAYMENTS, 0);
    expect((await told()).counts).toMatchObject({ delivered: 1, waiting: 1, unexpected: 0 });
  });
});

describe('an event that was published twice', () => {
  test('is two deliveries at each URL: the second can not be lost unnoticed', async () => {
    const first = paid('again');
    paid('again', { at: NOON + 1 });
    topics.logged(delivery(pay('again', 43), 3, first), 'delivered');
    const { counts, unanswered } = await told();
    expect(counts).toEqual({ ...ZERO, records: 2, events: 1, deliveries: 2, delivered: 1, unanswered: 1 });
    expect(unanswered).toMatchObject([{ eventId: 'again', source: 'payments/0/1' }]);
  });

  test('under two accounts is two events', async () => {
    paid('same');
    topics.routed(topics.published(pay('same'), { at: NOON }), 42, { routed: 2, confirmed: 2, webhooks: [1, 2] });
    expect((await told()).counts).toMatchObject({ records: 2, events: 2, deliveries: 3 });
  });

  test('of CloudEvents is told by source and id', async () => {
    for (const source of ['/one', '/other', '/one']) {
      const ofSource = { ...pay('pay-1', 43), cloudEvent: { source, mode: 'structured' as const } };
      const about = { specversion: '1.0', id: 'pay-1', source, type: 'com.example.cash_in', data: { accountId: 43 } };
      const record = topics.published(JSON.stringify(about), { at: NOON });
      topics.routed(record, 43, THREE);
      if (source === '/one') topics.logged(newDelivery(ofSource, named(3), record), 'delivered');
    }
    const { counts, unanswered } = await told();
    expect(counts).toMatchObject({ records: 3, events: 2, deliveries: 3, delivered: 2, unanswered: 1 });
    expect(unanswered).toMatchObject([{ eventId: 'pay-1', eventSource: '/other' }]);
  });
});

describe('records from before the first entry of their partition', () => {
  test('are counted apart', async () => {
    topics.published(pay('old', 43), { at: NOON });
    topics.published('not json', { at: NOON });
    topics.published(pay('elsewhere', 43), { at: NOON, partition: 1 });
    const record = paid('new');
    topics.logged(delivery(pay('new', 43), 3, record), 'delivered');
    const { counts } = await told();
    expect(counts).toMatchObject({ records: 4, invalid: 1, earlier: 2, deliveries: 1, delivered: 1, unanswered: 1 });
  });

  test('are also those before it where it is not of the period', async () => {
    topics.published(pay('old', 43), { at: NOON });
    paid('new', { at: TO });
    expect((await told()).counts).toEqual({ ...ZERO, records: 1, events: 1, earlier: 1 });
  });

  test('are not those of a topic that was made again: its first entry is of the former', async () => {
    for (const id of ['a', 'b']) topics.published(pay(id, 43), { at: FROM - 9 });
    paid('c', { at: FROM - 9 });
    topics.remove(PAYMENTS);
    for (const id of ['d', 'e', 'f', 'g']) topics.published(pay(id, 43), { at: NOON });
    expect((await told()).counts).toMatchObject({ earlier: 0, unanswered: 4 });
  });

  test.each([0, 1])(
    'nor where its own first entry is at the same offset, whichever is read first (%i)',
    async (first) => {
      for (const id of ['a', 'b']) topics.published(pay(id, 43), { at: NOON });
      const record = topics.published(pay('c', 43), { at: NOON });
      const ofFormer = { ...record, timestamp: FROM - 9 };
      for (const one of first === 0 ? [record, ofFormer] : [ofFormer, record]) topics.routed(one, 43, THREE);
      expect((await told()).counts).toMatchObject({ earlier: 0, unanswered: 3 });
    },
  );

  test('without any entry of the partition, are those before an entry that names no place', async () => {
    topics.published(pay('old', 43), { at: NOON });
    topics.published(pay('new', 43), { at: NOON + 2 });
    expect((await told()).counts).toMatchObject({ earlier: 0, unanswered: 2 });
    topics.logged(delivery(pay('old', 43), 3), 'delivered', null, { at: NOON + 1 });
    expect((await told()).counts).toMatchObject({ earlier: 1, unanswered: 1 });
  });
});

describe('a topic that does not have all records of the period', () => {
  const lost = (topic: string, before: number | null = null) => [
    { kind: 'lost', topic, before: before === null ? null : iso(before) },
  ];
  const answered = (id: string, placed: Placed = { at: NOON }) =>
    topics.logged(delivery(pay(id, 43), 3, paid(id, placed)), 'delivered', null, placed);

  test('is one whose first records are gone, where the next is of the period', async () => {
    answered('one', { at: FROM - 1 });
    answered('two', { at: NOON });
    topics.cut(PAYMENTS, 1);
    expect((await told()).lost).toEqual(lost(PAYMENTS, NOON));
  });

  test('is not one whose next record is from before the period', async () => {
    answered('one', { at: FROM - 2 });
    answered('two', { at: FROM - 1 });
    topics.cut(PAYMENTS, 1);
    expect((await told()).lost).toEqual([]);
  });

  test('is one that was emptied, whoever did it', async () => {
    topics.published(pay('one', 43), { at: NOON });
    topics.cut(PAYMENTS);
    expect(await told()).toMatchObject({ counts: ZERO, lost: lost(PAYMENTS) });
  });

  test('is one that was deleted, or made again: entries name its records', async () => {
    answered('one');
    topics.remove(PAYMENTS);
    expect((await told()).lost).toEqual(lost(PAYMENTS));
    for (const id of ['two', 'three']) answered(id, { at: NOON + 1 });
    expect((await told()).lost).toEqual(lost(PAYMENTS));
  });

  test('is one that ends before what its group was done with', async () => {
    topics.commit(PAYMENTS, 7);
    expect((await told()).lost).toEqual(lost(PAYMENTS));
  });

  test('is that of the entries; without them records have no answer', async () => {
    answered('one');
    topics.cut(TOPICS.deliveries);
    expect(await told()).toMatchObject({ counts: { earlier: 0, unanswered: 1 }, lost: lost(TOPICS.deliveries) });
  });

  test('is that of the dead letters, or a tier, where an answer depends on it', async () => {
    answered('one');
    const waits = delivery(pay('two', 43), 3, paid('two'));
    topics.exhausted(waits);
    topics.waits(waits, '5s', NOON);
    for (const topic of [TIER, TOPICS.deadLetters]) topics.cut(topic);
    expect(await told()).toMatchObject({
      counts: { unanswered: 1 },
      lost: [...lost(TOPICS.deadLetters), ...lost(TIER)],
    });
    topics.logged(waits, 'delivered');
    expect(await told()).toMatchObject({ counts: { unanswered: 0 }, lost: [] });
  });
});

describe('beside a service that works', () => {
  test('a delivery that moves on while topics are read is never lost', async () => {
    const record = paid('pay-1');
    const first = delivery(pay('pay-1', 43), 3, record);
    topics.waits(first, '5s', NOON);
    topics.logged(first, 'retrying', NOON);
    topics.beforeReading = (topic) => {
      if (topic !== TIER) return;
      const second = { ...first, turn: 1 };
      topics.waits(second, '30m', NOON);
      topics.logged(second, 'retrying', NOON);
      topics.commit(TIER, 1);
    };
    expect((await told()).counts).toMatchObject({ deliveries: 1, unanswered: 0 });
  });

  test('what is published while topics are read is no sign of a loss', async () => {
    topics.logged(delivery(pay('pay-1', 43), 3, paid('pay-1')), 'delivered');
    topics.beforeReading = (topic) => {
      if (topic === TOPICS.deliveries) paid('late');
    };
    expect(await told()).toMatchObject({ counts: { records: 1, unanswered: 0 }, lost: [] });
  });
});
