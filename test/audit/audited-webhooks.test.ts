/** The webhooks of a record that must have an answer, and those that may not have one. */
import type { ReceivedRecord } from '../../src/ports/broker.js';
import { deactivated } from '../support/generators/dead-letter-samples.js';
import { added, registered } from '../support/generators/webhook-samples.js';
import { delivery, TOPICS } from '../support/scenes/audit-fixture.js';
import { AuditedDay, iso, NOON, PAYMENTS, pay, removed, TO } from '../support/scenes/audited-day.js';

let day: AuditedDay;
beforeEach(() => {
  day = new AuditedDay();
});

describe('the webhooks that have to have an answer', () => {
  const routedBy = (...entries: readonly (readonly [routed: number, confirmed: number, ...webhooks: number[]])[]) => {
    const record = day.published(pay('pay-1', 43), { at: NOON });
    for (const [routed, confirmed, ...webhooks] of entries) day.routed(record, 43, { routed, confirmed, webhooks });
    return record;
  };
  const missing = async () => (await day.told()).unanswered.map(({ webhookId }) => webhookId);

  beforeEach(() => {
    // Revisions: 1 adds 3, 2 adds 4, 3 removes 3.
    day.happened(43, added(4), removed(3));
  });

  test('were active at both revisions of an entry, though it does not list them', async () => {
    routedBy([1, 2]);
    expect(await missing()).toEqual([3]);
  });

  test('are known by revisions, whatever clock stamped their events', async () => {
    day.happened(43, added(5, { createdAt: iso(TO + 86_400_000) }));
    routedBy([4, 4, 4, 5]);
    expect(await missing()).toEqual([4, 5]);
  });

  test('are those that all entries list, doubled ones too', async () => {
    routedBy([1, 2, 3, 4], [1, 2, 3, 4], [1, 3, 3, 4]);
    expect(await missing()).toEqual([3, 4]);
  });

  test.each([
    ['by another store', 1, 'another store'],
    ['of a revision that the store does not have', 9, undefined],
  ])('are all that an entry lists that is %s', async (_, revision, store) => {
    const record = day.published(pay('pay-1', 43), { at: NOON });
    day.routed(record, 43, { routed: revision, confirmed: revision, webhooks: [7] }, store);
    day.logged(delivery(pay('pay-1', 43), 8, record), 'delivered');
    expect(await missing()).toEqual([7]);
    expect((await day.told()).counts).toMatchObject({ deliveries: 2, delivered: 1, unexpected: 0 });
  });

  test('are all that an entry lists from before the store was restored, whatever its revisions mean now', async () => {
    const record = day.published(pay('pay-1', 43), { at: NOON });
    day.routed(record, 43, { routed: 3, confirmed: 3, webhooks: [4] });
    day.logged(delivery(pay('pay-1', 43), 4, record), 'delivered');
    day.restored(43, 2);
    day.happened(43, added(5), added(6));
    expect((await day.told()).counts).toMatchObject({ deliveries: 1, delivered: 1, unanswered: 0, unexpected: 0 });
  });
});

test('an account whose stream is hidden keeps no other from being audited; what is listed has to have an answer, and the report says that more can not be judged', async () => {
  const [hidden, other] = [
    day.published(pay('pay-1', 43), { at: NOON }),
    day.published(pay('pay-2', 44), { at: NOON }),
  ];
  day.happened(44, registered(44), added(9));
  day.routed(hidden, 43, { routed: 1, confirmed: 1, webhooks: [3, 7] });
  day.routed(other, 44, { routed: 1, confirmed: 1, webhooks: [9] });
  day.logged(delivery(pay('pay-1', 43), 3, hidden), 'delivered');
  day.logged(delivery(pay('pay-2', 44), 9, other), 'delivered');
  day.hides(43);
  const { counts, unanswered, lost } = await day.told();
  expect(counts).toMatchObject({ records: 2, delivered: 2, unexpected: 0 });
  expect(unanswered.map(({ webhookId }) => webhookId)).toEqual([7]);
  expect(lost).toContainEqual({ kind: 'lost', topic: 'account-43', why: expect.stringContaining('it was deleted: ') });
});

describe('a webhook that was switched off', () => {
  const off = { type: 'WebhookDeactivated', data: { webhookId: 4, reason: '', deactivatedAt: iso(NOON) } } as const;
  const offByService = { ...off, data: { ...off.data, by: 'service' } } as const;
  const paid = () => {
    const record = day.published(pay('pay-1', 43), { at: NOON });
    // Webhook 3 is active, and delivered to.
    day.routed(record, 43, { routed: 3, confirmed: 3, webhooks: [3] });
    day.logged(delivery(pay('pay-1', 43), 3, record), 'delivered');
    return record;
  };

  test('by the service has to have an answer, though no entry lists it', async () => {
    day.happened(43, added(4), offByService);
    paid();
    expect((await day.told()).unanswered.map(({ webhookId }) => webhookId)).toEqual([4]);
  });

  test('by the service is answered by its dead letter', async () => {
    day.happened(43, added(4), offByService);
    const held = delivery(pay('pay-1', 43), 4, paid());
    day.logged(held, 'exhausted');
    expect((await day.told()).counts).toMatchObject({ unanswered: 1 });
    day.deadLetter(deactivated(held));
    expect((await day.told()).counts).toMatchObject({ delivered: 1, exhausted: 1, unanswered: 0, unexpected: 0 });
  });

  test('by its account needs no answer, and an answer is unexpected', async () => {
    day.happened(43, added(4), off);
    const record = day.published(pay('pay-1', 43), { at: NOON });
    day.routed(record, 43, { routed: 3, confirmed: 3, webhooks: [] });
    expect((await day.told()).unanswered.map(({ webhookId }) => webhookId)).toEqual([3]);
    const listed = day.published(pay('pay-2', 43), { at: NOON });
    day.routed(listed, 43, { routed: 3, confirmed: 3, webhooks: [4] });
    day.logged(delivery(pay('pay-2', 43), 4, listed), 'delivered');
    expect((await day.told()).unexpected).toMatchObject([{ webhookId: 4 }]);
  });
});

describe('a webhook that was not active', () => {
  const sent = (webhookId: number, record: ReceivedRecord) =>
    day.logged(delivery(pay('pay-1', 43), webhookId, record), 'delivered');

  test('at any revision of an entry that lists it is unexpected', async () => {
    day.happened(43, removed(3), added(4));
    const record = day.published(pay('pay-1', 43), { at: NOON });
    day.routed(record, 43, { routed: 2, confirmed: 3, webhooks: [3, 4] });
    for (const id of [3, 4]) sent(id, record);
    const { counts, unexpected } = await day.told();
    expect(counts).toMatchObject({ delivered: 2, unanswered: 0, unexpected: 1 });
    expect(unexpected).toMatchObject([{ kind: 'unexpected', webhookId: 3, source: 'payments/0/0' }]);
  });

  test('up to the last entry, and got the event, is unexpected; also one of another type', async () => {
    day.happened(43, added(4), added(5, { eventType: 'cash_out' }));
    const record = day.paid('pay-1');
    for (const id of [3, 4, 5]) sent(id, record);
    expect((await day.told()).unexpected).toMatchObject([{ webhookId: 4 }, { webhookId: 5 }]);
  });

  test('and gets a payment that it missed, by a request, is not unexpected: its end is answered for', async () => {
    const record = day.paid('pay-1');
    sent(3, record);
    day.happened(43, added(4));
    const missed = delivery(pay('pay-1', 43), 4, record);
    day.requested(missed, { at: NOON }, { trigger: 'recover', actor: 'ana', recovery: 'r' });
    expect((await day.told()).counts).toMatchObject({ deliveries: 2, retrying: { requests: 1 }, unexpected: 0 });
    day.commit(TOPICS.requests, 1);
    expect((await day.told()).unanswered).toMatchObject([{ webhookId: 4, why: 'to be retried, but in no retry tier' }]);
    day.logged({ ...missed, chain: 1, attempts: 1 }, 'delivered');
    const after = { deliveries: 2, delivered: 2, unanswered: 0, unexpected: 0 };
    expect((await day.told()).counts).toMatchObject(after);
    day.drop(TOPICS.requests, () => true);
    expect((await day.told()).counts).toMatchObject(after);
  });

  test('is not asked about while the record is open and has no entry', async () => {
    const record = day.published(pay('pay-1', 43), { at: NOON });
    sent(3, record);
    day.commit(PAYMENTS, 0);
    expect((await day.told()).counts).toMatchObject({ delivered: 1, waiting: 1, unexpected: 0 });
  });
});
