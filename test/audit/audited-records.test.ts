/** The records that an audit counts, and when a record itself has an answer. */
import { unrouted } from '../../src/delivery/dead-letters.js';
import { NO_TIME } from '../../src/ports/broker.js';
import { UNREADABLE } from '../support/generators/dead-letter-samples.js';
import { header } from '../support/generators/delivery-samples.js';
import { delivery, TOPICS } from '../support/scenes/audit-fixture.js';
import { AuditedDay, FROM, NOON, PAYMENTS, pay, THREE, TO, ZERO } from '../support/scenes/audited-day.js';

let day: AuditedDay;
beforeEach(() => {
  day = new AuditedDay();
});

describe('the records of a period', () => {
  test('are those from its beginning on and before its end', async () => {
    for (const [at, id] of [
      [FROM - 1, 'early'],
      [FROM, 'first'],
      [TO - 1, 'last'],
      [TO, 'late'],
    ] as const) {
      day.paid(id, { at });
    }
    const { counts, unanswered } = await day.told();
    expect(counts).toEqual({ ...ZERO, records: 2, events: 2, deliveries: 2, unanswered: 2 });
    expect(unanswered.map(({ eventId }) => eventId)).toEqual(['first', 'last']);
  });

  test.each([Number(1_763_900_000_123_456_789n), -1, Number(9_223_372_036_854_775_807n)])(
    'include one whose timestamp is no time (%d): it may be of any period',
    async (at) => {
      const record = day.paid('odd', { at });
      expect((await day.told()).counts).toEqual({ ...ZERO, records: 1, events: 1, deliveries: 1, unanswered: 1 });
      day.logged(delivery(pay('odd', 43), 3, record), 'delivered');
      expect((await day.told()).counts).toMatchObject({ delivered: 1, unanswered: 0 });
    },
  );

  test('are none where nothing was published', async () => {
    expect(await day.told()).toEqual({ counts: ZERO, lost: [], open: [], unanswered: [], unexpected: [] });
  });

  test('of unknown accounts and of types without a URL are complete', async () => {
    const unknown = day.published(pay('unknown', 99), { at: NOON });
    day.routed(unknown, 99, { routed: -1, confirmed: -1, webhooks: [] });
    const none = { routed: 2, confirmed: 2, webhooks: [] };
    day.routed(day.published({ ...pay('no-url'), type: 'cash_out' }, { at: NOON }), 42, none);
    expect((await day.told()).counts).toEqual({ ...ZERO, records: 2, events: 2, notDue: 2 });
  });

  test('of one account are its own; a record that is no event goes by its key', async () => {
    day.routed(day.published(pay('mine'), { at: NOON }), 42, { routed: 2, confirmed: 2, webhooks: [1, 2] });
    day.paid('other');
    day.published('nobody', { at: NOON });
    for (const key of ['42', '43', '042', 'x']) {
      day.put(PAYMENTS, { key: Buffer.from(key), value: Buffer.from('{}'), headers: [] }, { at: NOON });
    }
    const of42 = await day.told(42);
    expect(of42.counts).toMatchObject({ records: 2, events: 1, invalid: 1, deliveries: 2, unanswered: 3 });
    expect(of42.lost).toEqual([]);
    expect((await day.told()).counts).toMatchObject({ records: 7, events: 2, invalid: 5 });
  });
});

describe('a record that its consumer is done with', () => {
  test('and that no entry names has no answer', async () => {
    day.published(pay('none', 43), { at: NOON });
    day.paid('behind', { at: NOON, partition: 1 });
    const { counts, unanswered } = await day.told();
    expect(counts).toMatchObject({ records: 2, notDue: 0, deliveries: 1, unanswered: 2 });
    const why = 'done, but no entry says where it was routed';
    expect(unanswered[0]).toEqual({
      ...{ kind: 'unanswered', why, id: null, eventId: 'none', accountId: 43, webhookId: null, source: 'payments/0/0' },
    });
  });

  test('and is no payment event is answered by a dead letter of its place, and by no other', async () => {
    const known = day.published('not json', { at: NOON, partition: 3 });
    day.published('not json', { at: NOON, partition: 3 });
    day.published('not json', { at: NOON, partition: 3 }, TOPICS.payments[1]);
    day.notValid(known);
    const source = header('aw-source', 'payments/3/1');
    day.put(TOPICS.deadLetters, { key: null, value: null, headers: [source] });
    const { counts, unanswered } = await day.told();
    expect(counts).toEqual({ ...ZERO, records: 3, invalid: 3, unanswered: 2 });
    const why = 'not a payment event, but missing from the dead letters';
    const nobody = { kind: 'unanswered', why, id: null, eventId: null, accountId: null, webhookId: null };
    expect(unanswered).toEqual([
      { ...nobody, source: 'payments/3/1' },
      { ...nobody, source: 'more-payments/3/0' },
    ]);
  });

  test('and whose account could not be read is answered by the letter of that record', async () => {
    const known = day.published(pay('known', 43), { at: NOON });
    day.published(pay('unknown', 43), { at: NOON });
    day.deadLetter(unrouted(known, pay('known', 43), UNREADABLE));
    // Of a former topic of that name.
    day.deadLetter(unrouted({ ...known, offset: 1, timestamp: NOON - 1 }, pay('unknown', 43), UNREADABLE));
    const { counts, unanswered } = await day.told();
    expect(counts).toEqual({ ...ZERO, records: 2, events: 2, unanswered: 1 });
    expect(unanswered).toMatchObject([{ eventId: 'unknown' }]);
  });

  test('and was buried as a whole is answered, though it is a payment event', async () => {
    day.notValid(day.published(pay('odd', 43), { at: NOON }));
    expect((await day.told()).counts).toEqual({ ...ZERO, records: 1, events: 1 });
  });
});

describe('records behind an open transaction', () => {
  const held = (records: number, offset: number) => [{ kind: 'held', topic: PAYMENTS, partition: 0, offset, records }];

  beforeEach(() => {
    day.paid('before');
    day.logged(delivery(pay('before', 43), 3, day.paid('before')), 'delivered');
    day.heldFrom = 2;
  });

  test('count as waiting if they are of the period or have no time', async () => {
    for (const at of [TO, NOON, FROM - 1, NO_TIME]) day.published(pay(`held ${at}`, 43), { at });
    day.published('no payment event', { at: NOON });
    const report = await day.audit({ from: FROM, to: TO });
    expect(report.held).toEqual(held(3, 3));
    expect(report.counts).toMatchObject({ records: 5, waiting: 3 });
  });

  test('are audited like any other if the transaction ends during the audit', async () => {
    const record = day.published(pay('committed', 43), { at: NOON });
    day.beforeReading = (topic) => {
      if (topic !== PAYMENTS) return;
      day.heldFrom = Number.POSITIVE_INFINITY;
      day.routed(record, 43, THREE);
    };
    const report = await day.audit({ from: FROM, to: TO });
    expect([report.held, report.lost]).toEqual([[], []]);
  });
});

describe('a record that its consumer is not done with', () => {
  test('waits, and its deliveries with it', async () => {
    day.published(pay('none', 43), { at: NOON });
    const record = day.paid('routed');
    day.paid('delivered');
    day.logged(delivery(pay('delivered', 43), 3, day.published(pay('delivered', 43), { at: NOON })), 'delivered');
    day.published('not json', { at: NOON });
    day.logged(delivery(pay('routed', 43), 3, record), 'exhausted');
    day.commit(PAYMENTS, 0);
    const { counts } = await day.told();
    expect(counts).toMatchObject({ records: 5, invalid: 1, deliveries: 3, delivered: 1, waiting: 5, unanswered: 0 });
  });

  test('ends at the offset where its group stands: moved ahead, what was never sent has no answer', async () => {
    for (let n = 0; n < 5; n += 1) day.published(pay(`never-${n}`, 43), { at: NOON });
    day.commit(PAYMENTS, 5);
    expect((await day.told()).counts).toMatchObject({ waiting: 0, unanswered: 5 });
  });
});

describe('an event that was published twice', () => {
  test('is two deliveries at each URL: the second can not be lost unnoticed', async () => {
    const first = day.paid('again');
    day.paid('again', { at: NOON + 1 });
    day.logged(delivery(pay('again', 43), 3, first), 'delivered');
    const { counts, unanswered } = await day.told();
    expect(counts).toEqual({ ...ZERO, records: 2, events: 1, deliveries: 2, delivered: 1, unanswered: 1 });
    expect(unanswered).toMatchObject([{ eventId: 'again', source: 'payments/0/1' }]);
  });
});

describe('a record before the first routed entry of its partition', () => {
  test('has no answer, whatever is routed behind it: its group passed it', async () => {
    for (let n = 0; n < 50; n += 1) day.published(pay(`never-${n}`, 43), { at: NOON });
    const record = day.paid('sent');
    day.logged(delivery(pay('sent', 43), 3, record), 'delivered');
    const { counts } = await day.told();
    expect(counts).toMatchObject({ records: 51, delivered: 1, unanswered: 50 });
  });

  test('has none either where the first entry is not of the period, and where it is no payment event', async () => {
    day.published(pay('old', 43), { at: NOON });
    day.published('not json', { at: NOON });
    day.paid('new', { at: TO });
    expect((await day.told()).counts).toMatchObject({ records: 2, invalid: 1, unanswered: 2 });
  });
});
