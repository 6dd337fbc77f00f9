/** The answer to each delivery. */
import { fromRetryRecord, toMember } from '../../src/delivery/delivery.js';
import type { ReceivedRecord } from '../../src/ports/broker.js';
import { ofOtherHistory, ofUnreadable } from '../support/generators/dead-letter-samples.js';
import { delivery, TOPICS } from '../support/scenes/audit-fixture.js';
import { AuditedDay, iso, NOON, pay, TIER } from '../support/scenes/audited-day.js';

let day: AuditedDay;
beforeEach(() => {
  day = new AuditedDay();
});

describe('what became of a delivery', () => {
  const event = pay('pay-1', 43);
  let record: ReceivedRecord;
  let toThree: ReturnType<typeof delivery>;
  beforeEach(() => {
    record = day.paid('pay-1');
    toThree = delivery(event, 3, record);
  });

  const answer = async () => {
    const { counts, ...lists } = await day.told();
    expect(counts).toMatchObject({ records: 1, events: 1, deliveries: 1 });
    return { counts, ...lists };
  };

  test('is an end where its dead letter says that it is of another history, with its entry or without', async () => {
    day.deadLetter(ofOtherHistory(toThree, 'another event'), { at: NOON });
    expect((await answer()).counts).toMatchObject({ exhausted: 1, unanswered: 0 });
    day.logged(toThree, 'exhausted');
    expect((await answer()).counts).toMatchObject({ exhausted: 1, unanswered: 0 });
  });

  test('is an end where its dead letter says that its account could not be read', async () => {
    day.deadLetter(ofUnreadable(toThree));
    expect((await answer()).counts).toMatchObject({ exhausted: 1, unanswered: 0 });
  });

  test('is no answer where it is exhausted without a dead letter of that delivery', async () => {
    day.logged(toThree, 'exhausted');
    day.exhausted(delivery(event, 4, record));
    day.exhausted(delivery(event, 3));
    day.notValid(day.put('elsewhere', { ...toMember(toThree), value: null }));
    const { counts, unanswered } = await answer();
    expect(counts).toMatchObject({ exhausted: 0, unanswered: 1 });
    expect(unanswered).toMatchObject([{ eventId: 'pay-1', why: 'exhausted, but missing from the dead letters' }]);
  });

  test('waits with its record, and is unaccounted for once that is done, also after the committed offset', async () => {
    day.commit('payments', 0);
    expect((await answer()).counts).toMatchObject({ waiting: 1, unanswered: 0 });
    day.completeAhead('payments', record.offset);
    expect((await answer()).counts).toMatchObject({ waiting: 0, unanswered: 1 });
  });

  test('does not wait with its record once its part of it is done', async () => {
    day.commit('payments', 0);
    day.completePart('payments', record.offset, 4);
    expect((await answer()).counts).toMatchObject({ waiting: 1, unanswered: 0 });
    day.completePart('payments', record.offset, 3);
    expect((await answer()).counts).toMatchObject({ waiting: 0, unanswered: 1 });
    day.logged(toThree, 'delivered');
    expect((await answer()).counts).toMatchObject({ delivered: 1, waiting: 0, unanswered: 0 });
  });

  test('does not wait in a tier whose record is done after the committed offset', async () => {
    day.logged(toThree, 'retrying', NOON + 9_000);
    day.waits(toThree, '5s', NOON + 9_000);
    expect((await answer()).counts).toMatchObject({ retrying: { '5s': 1 }, unanswered: 0 });
    day.completeAhead(TIER, 0);
    expect((await answer()).counts).toMatchObject({ retrying: {}, unanswered: 1 });
  });

  test('does not wait in a tier as a member that is done of a bundle that is not', async () => {
    day.logged(toThree, 'retrying', NOON + 9_000);
    const bundle = day.waitTogether([delivery(event, 4, record), toThree], '5s', NOON + 9_000);
    day.completePart(TIER, bundle.offset, 0);
    expect((await answer()).counts).toMatchObject({ retrying: { '5s': 1 }, unanswered: 0 });
    day.completePart(TIER, bundle.offset, 1);
    expect((await answer()).counts).toMatchObject({ retrying: {}, unanswered: 1 });
  });

  test('is retrying in the tier of its latest retry record', async () => {
    day.waits(toThree, '5s', NOON + 5_000);
    day.waits({ ...toThree, attempts: 1 }, '30m', NOON + 9_000);
    day.waits(delivery(event, 4, record), '24h', NOON + 99_000);
    day.logged({ ...toThree, attempts: 1 }, 'retrying', NOON + 9_000);
    const { counts, open } = await answer();
    expect(counts).toMatchObject({ retrying: { '30m': 1 }, unanswered: 0 });
    const about = { id: toThree.id, eventId: 'pay-1', accountId: 43, webhookId: 3, source: 'payments/0/0' };
    expect(open).toEqual([{ kind: 'open', ...about, tier: '30m', nextAttemptAt: iso(NOON + 9_000) }]);
  });

  test('is no answer where it is retrying and its tier is done with that record, however long it is not due', async () => {
    day.waits(toThree, '5s', NOON + 5_000);
    day.logged(toThree, 'retrying', NOON + 5_000);
    day.commit(TIER, 1);
    expect((await answer()).unanswered).toMatchObject([{ why: 'to be retried, but in no retry tier' }]);
  });

  test('is retrying where it was deferred again, which no entry tells', async () => {
    day.waits(toThree, '5s', NOON + 5_000);
    day.logged(toThree, 'retrying', NOON + 5_000);
    day.waits({ ...toThree, deferrals: 1 }, '30m', NOON + 9_000);
    day.commit(TIER, 1);
    expect((await answer()).counts).toMatchObject({ retrying: { '30m': 1 }, unanswered: 0 });
  });

  test('is the outcome after a replay', async () => {
    day.logged(toThree, 'exhausted');
    day.exhausted(toThree);
    day.requested(toThree);
    expect((await answer()).counts).toMatchObject({ retrying: { requests: 1 }, exhausted: 0 });
    day.commit(TOPICS.requests, 1);
    expect((await day.told()).unanswered).toMatchObject([{ why: 'to be retried, but in no retry tier' }]);
    day.waits({ ...toThree, chain: 1, attempts: 1 }, '5s', NOON);
    day.logged({ ...toThree, chain: 1, attempts: 1 }, 'retrying', NOON);
    expect((await day.told()).counts).toMatchObject({ retrying: { '5s': 1 }, exhausted: 0 });
    day.logged({ ...toThree, chain: 1, attempts: 2 }, 'delivered');
    expect((await day.told()).counts).toMatchObject({ delivered: 1, exhausted: 0, retrying: {} });
  });

  test('is cancelled where its account did so and its record was done without an entry', async () => {
    day.waits(toThree, '5s', NOON + 5_000);
    day.logged(toThree, 'retrying', NOON + 5_000);
    day.cancelled([toThree]);
    for (const topic of [TIER, TOPICS.requests]) day.commit(topic, 1);
    expect((await answer()).counts).toMatchObject({ cancelled: 1, unanswered: 0, retrying: {} });
  });

  test('is cancelled with another publication of its event by one request', async () => {
    const again = day.paid('pay-1');
    day.cancelled([toThree, delivery(event, 3, again)]);
    expect((await day.told()).counts).toMatchObject({ deliveries: 2, cancelled: 2, unanswered: 0 });
  });

  test('is found by an id with half a surrogate pair, after a tier too', async () => {
    const odd = pay('\ud800', 43);
    const again = fromRetryRecord(toMember(delivery(odd, 3, day.paid('\ud800'))));
    if (again) day.logged(again, 'delivered');
    expect((await day.told()).counts).toMatchObject({ deliveries: 2, delivered: 1, unanswered: 1 });
  });
});
