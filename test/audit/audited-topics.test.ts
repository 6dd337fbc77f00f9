/** Topics that lost records, and topics that change while they are read. */
import { unrouted } from '../../src/delivery/dead-letters.js';
import type { ReceivedRecord } from '../../src/ports/broker.js';
import { UNREADABLE } from '../support/generators/dead-letter-samples.js';
import { delivery, type Placed, TOPICS } from '../support/scenes/audit-fixture.js';
import { AuditedDay, FROM, iso, NOON, PAYMENTS, pay, THREE, TIER, TO } from '../support/scenes/audited-day.js';

let day: AuditedDay;
beforeEach(() => {
  day = new AuditedDay();
});

const answered = (id: string, placed: Placed = { at: NOON }, topic: string = PAYMENTS) =>
  day.logged(delivery(pay(id, 43), 3, day.paid(id, placed, topic)), 'delivered', null, placed);
const lost = (topic: string, ...whys: readonly string[]) => whys.map((why) => ({ kind: 'lost', topic, why }));

describe('a payment topic lost records', () => {
  const removed = (from: number, to: number) =>
    lost(PAYMENTS, `offsets ${from} to ${to} of partition 0 were removed before they were done`);
  const notThere = lost(PAYMENTS, 'entries name records of the period that it does not have');
  const undelivered = (count: number, placed: Placed = { at: NOON }, topic: string = PAYMENTS) => {
    for (let n = 0; n < count; n += 1) day.published(pay(`undelivered-${n}`, 43), placed, topic);
  };

  test('where retention removed what its group was not done with, whatever time the oldest one left has', async () => {
    undelivered(40);
    undelivered(15, { at: FROM - 1 });
    day.commit(PAYMENTS, 0);
    day.cut(PAYMENTS, 40);
    expect((await day.told()).lost).toEqual(removed(0, 39));
  });

  test('not where a record below the first kept one was routed late, or twice, in whatever order', async () => {
    const [first, second] = ['one', 'two'].map((id) => day.published(pay(id, 43), { at: FROM - 1 }));
    answered('three');
    for (const record of [second, first, first]) if (record) day.routed(record, 43, THREE);
    day.cut(PAYMENTS, 2);
    expect((await day.told()).lost).toEqual([]);
  });

  test.each<readonly [string, (record: ReceivedRecord) => unknown]>([
    ['no payment event', (record) => day.notValid(record)],
    ['of an account that could not be read', (record) => day.deadLetter(unrouted(record, pay('last', 43), UNREADABLE))],
  ])('not where the last removed record was %s: its dead letter names it', async (_, letter) => {
    answered('one', { at: FROM - 1 });
    letter(day.published(pay('last', 43), { at: FROM - 1 }));
    answered('three');
    day.cut(PAYMENTS, 2);
    expect((await day.told()).lost).toEqual([]);
  });

  test('not where the last removed offset may be the marker of a transaction, as others are in the partition', async () => {
    answered('one', { at: FROM - 1 });
    for (const offset of [2, 4]) answered(`${offset}`, { at: NOON, offset });
    day.cut(PAYMENTS, 2);
    expect((await day.told()).lost).toEqual([]);
  });

  test('not where its group was done with all that was removed', async () => {
    for (const at of [FROM - 1, NOON]) answered(`${at}`, { at });
    day.cut(PAYMENTS, 1);
    expect((await day.told()).lost).toEqual([]);
  });

  test('where entries name removed records of the period', async () => {
    for (const id of ['one', 'two']) answered(id);
    day.cut(PAYMENTS, 1);
    expect((await day.told()).lost).toEqual(notThere);
    day.cut(PAYMENTS);
    expect((await day.told()).lost).toEqual(notThere);
  });

  test('where it was deleted, and perhaps recreated', async () => {
    answered('one');
    day.remove(PAYMENTS);
    expect((await day.told()).lost).toEqual(lost(PAYMENTS, 'it was recreated or truncated'));
    for (const id of ['two', 'three']) answered(id, { at: NOON + 1 });
    expect((await day.told()).lost).toEqual([...lost(PAYMENTS, 'it was recreated or truncated'), ...notThere]);
  });

  test('where an entry names an offset that it does not have yet, or at which a record has another time', async () => {
    const record = day.published(pay('one', 43), { at: FROM - 2 });
    const answeredToo = day.published(pay('two', 43), { at: FROM - 1 });
    for (const one of [record, answeredToo]) day.routed(one, 43, THREE);
    expect((await day.told()).lost).toEqual([]);
    day.routed({ ...answeredToo, timestamp: FROM - 3 }, 43, THREE);
    expect((await day.told()).lost).toEqual(lost(PAYMENTS, 'it was recreated or truncated'));
  });

  describe('where PAYMENT_TOPICS lacks it', () => {
    const FORMER = 'former-payments';
    const lacks = (why: string) => lost(FORMER, `PAYMENT_TOPICS lacks it, and it ${why}`);

    test('and its group is not done with it: nobody will be', async () => {
      answered('one', { at: FROM - 1 }, FORMER);
      undelivered(30, { at: NOON }, FORMER);
      day.commit(FORMER, 1);
      expect((await day.told()).lost).toEqual(lacks('has 30 offsets that were not done'));
    });

    test('and it had records of the period; done with all others it is no loss', async () => {
      answered('one', { at: NOON }, FORMER);
      day.commit(FORMER, 1);
      expect((await day.told()).lost).toEqual(lacks('has records of the period'));
      expect((await day.audit({ from: NOON + 1, to: TO })).lost).toEqual([]);
    });
  });
});

describe('a topic of evidence lost records', () => {
  test('is that of the entries; without them records have no answer', async () => {
    answered('one');
    day.cut(TOPICS.deliveries);
    const why = 'records were deleted: some or all of them';
    expect(await day.told()).toMatchObject({ counts: { unanswered: 1 }, lost: lost(TOPICS.deliveries, why) });
  });

  test('is that of the entries where the oldest one left is of the period, and not where it is older', async () => {
    for (const at of [FROM - 2, FROM - 1, NOON]) answered(`${at}`, { at });
    const left = (at: number) => day.drop(TOPICS.deliveries, ({ timestamp }) => timestamp < at);
    left(FROM - 1);
    expect((await day.told()).lost).toEqual([]);
    left(NOON);
    const why = `records were deleted: from before ${iso(NOON)}`;
    expect((await day.told()).lost).toEqual(lost(TOPICS.deliveries, why));
  });

  test('is that of the entries and that of the payments where both were emptied', async () => {
    answered('one');
    const deleted = 'records were deleted: some or all of them';
    for (const topic of [PAYMENTS, TOPICS.deliveries]) day.cut(topic);
    expect((await day.told()).lost).toEqual([...lost(PAYMENTS, deleted), ...lost(TOPICS.deliveries, deleted)]);
  });

  test('is that of the entries where it was deleted and recreated: what was done before has no answer', async () => {
    answered('one');
    day.remove(TOPICS.deliveries);
    answered('two');
    expect((await day.told()).counts).toMatchObject({ records: 2, delivered: 1, unanswered: 1 });
  });

  test('is that of the dead letters, or a tier, where an answer depends on it', async () => {
    answered('one');
    const waits = delivery(pay('two', 43), 3, day.paid('two'));
    day.exhausted(waits);
    day.waits(waits, '5s', NOON);
    for (const topic of [TIER, TOPICS.deadLetters]) day.cut(topic);
    const why = 'records were deleted: some or all of them';
    expect(await day.told()).toMatchObject({
      counts: { unanswered: 1 },
      lost: [...lost(TOPICS.deadLetters, why), ...lost(TIER, why)],
    });
    day.logged(waits, 'delivered');
    expect(await day.told()).toMatchObject({ counts: { unanswered: 0 }, lost: [] });
  });
});

describe('the requests topic', () => {
  const sentAgain = (chain: number) => {
    const one = delivery(pay('one', 43), 3, day.paid('one'));
    day.requested(one, { at: NOON });
    day.requested(one, { at: NOON });
    day.logged({ ...one, chain, attempts: 1 }, 'delivered');
  };

  test('lost a request that nobody was done with: what was accepted is gone', async () => {
    sentAgain(1);
    day.commit(TOPICS.requests, 1);
    day.cut(TOPICS.requests);
    const why = 'offsets 1 to 1 of partition 0 were removed before they were done';
    expect(await day.told()).toMatchObject({ counts: { delivered: 1 }, lost: lost(TOPICS.requests, why) });
  });

  test('is lost too where removed requests may be why there is no answer', async () => {
    const one = delivery(pay('one', 43), 3, day.paid('one'));
    day.waits(one, '5s', NOON);
    day.logged(one, 'retrying', NOON);
    day.cancelled([one]);
    for (const topic of [TIER, TOPICS.requests]) day.commit(topic, 1);
    expect(await day.told()).toMatchObject({ counts: { cancelled: 1 }, lost: [] });
    day.cut(TOPICS.requests);
    const why = 'records were deleted: some or all of them';
    expect(await day.told()).toMatchObject({ counts: { unanswered: 1 }, lost: lost(TOPICS.requests, why) });
  });
});

describe('beside a service that works', () => {
  test('a delivery that moves on while topics are read is never lost', async () => {
    const record = day.paid('pay-1');
    const first = delivery(pay('pay-1', 43), 3, record);
    day.waits(first, '5s', NOON);
    day.logged(first, 'retrying', NOON);
    day.beforeReading = (topic) => {
      if (topic !== TIER) return;
      const second = { ...first, attempts: 1 };
      day.waits(second, '30m', NOON);
      day.logged(second, 'retrying', NOON);
      day.commit(TIER, 1);
    };
    expect((await day.told()).counts).toMatchObject({ deliveries: 1, unanswered: 0 });
  });

  test('a record that a request ends while topics are read is never lost', async () => {
    const first = delivery(pay('pay-1', 43), 3, day.paid('pay-1'));
    day.waits(first, '5s', NOON);
    day.logged(first, 'retrying', NOON);
    day.beforeReading = (topic) => {
      if (topic !== TIER) return;
      day.requested(first);
      day.commit(TIER, 1);
    };
    expect((await day.told()).counts).toMatchObject({ retrying: { '5s': 1 }, unanswered: 0 });
    expect((await day.told()).counts).toMatchObject({ retrying: { requests: 1 }, unanswered: 0 });
  });
});
