/** Topics that lost records, and topics that change while they are read. */
import { beforeEach, describe, expect, test } from '@jest/globals';
import { delivery, type Placed, TOPICS } from '../support/audit-fixture.js';
import { AuditedDay, FROM, iso, NOON, PAYMENTS, pay, TIER, ZERO } from '../support/audited-day.js';

let day: AuditedDay;
beforeEach(() => {
  day = new AuditedDay();
});

describe('a topic that does not have all records of the period', () => {
  const lost = (topic: string, before: number | null = null) => [
    { kind: 'lost', topic, before: before === null ? null : iso(before) },
  ];
  const answered = (id: string, placed: Placed = { at: NOON }) =>
    day.logged(delivery(pay(id, 43), 3, day.paid(id, placed)), 'delivered', null, placed);

  test('is one whose first records are gone, where the next is of the period', async () => {
    answered('one', { at: FROM - 1 });
    answered('two', { at: NOON });
    day.cut(PAYMENTS, 1);
    expect((await day.told()).lost).toEqual(lost(PAYMENTS, NOON));
  });

  test('is not one whose next record is from before the period', async () => {
    answered('one', { at: FROM - 2 });
    answered('two', { at: FROM - 1 });
    day.cut(PAYMENTS, 1);
    expect((await day.told()).lost).toEqual([]);
  });

  test('is one that was emptied, whoever did it', async () => {
    day.published(pay('one', 43), { at: NOON });
    day.cut(PAYMENTS);
    expect(await day.told()).toMatchObject({ counts: ZERO, lost: lost(PAYMENTS) });
  });

  test('is one that was deleted, or made again: entries name its records', async () => {
    answered('one');
    day.remove(PAYMENTS);
    expect((await day.told()).lost).toEqual(lost(PAYMENTS));
    for (const id of ['two', 'three']) answered(id, { at: NOON + 1 });
    expect((await day.told()).lost).toEqual(lost(PAYMENTS));
  });

  test('is one that ends before what its group was done with', async () => {
    day.commit(PAYMENTS, 7);
    expect((await day.told()).lost).toEqual(lost(PAYMENTS));
  });

  test('is that of the entries; without them records have no answer', async () => {
    answered('one');
    day.cut(TOPICS.deliveries);
    expect(await day.told()).toMatchObject({ counts: { earlier: 0, unanswered: 1 }, lost: lost(TOPICS.deliveries) });
  });

  test('is that of the dead letters, or a tier, where an answer depends on it', async () => {
    answered('one');
    const waits = delivery(pay('two', 43), 3, day.paid('two'));
    day.exhausted(waits);
    day.waits(waits, '5s', NOON);
    for (const topic of [TIER, TOPICS.deadLetters]) day.cut(topic);
    expect(await day.told()).toMatchObject({
      counts: { unanswered: 1 },
      lost: [...lost(TOPICS.deadLetters), ...lost(TIER)],
    });
    day.logged(waits, 'delivered');
    expect(await day.told()).toMatchObject({ counts: { unanswered: 0 }, lost: [] });
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
      const second = { ...first, turn: 1 };
      day.waits(second, '30m', NOON);
      day.logged(second, 'retrying', NOON);
      day.commit(TIER, 1);
    };
    expect((await day.told()).counts).toMatchObject({ deliveries: 1, unanswered: 0 });
  });

  test('what is published while topics are read is no sign of a loss', async () => {
    day.logged(delivery(pay('pay-1', 43), 3, day.paid('pay-1')), 'delivered');
    day.beforeReading = (topic) => {
      if (topic === TOPICS.deliveries) day.paid('late');
    };
    expect(await day.told()).toMatchObject({ counts: { records: 1, unanswered: 0 }, lost: [] });
  });
});
