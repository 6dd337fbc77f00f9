/** Payments that webhooks missed. */
import type { ListPlace, MissedQuery, NextMissed } from '../../../src/ports/deliveries-view.js';
import { ACCOUNT, NOW } from '../../support/generators/delivery-samples.js';
import { type AskedCore, entry, type Of, REMOVED, routing } from '../../support/scenes/deliveries-view-subject.js';
import { type ViewCase, viewCase } from './view-case.js';

const IN = 'cash_in';
const of = (changes: Partial<Of<MissedQuery>> = {}): Of<MissedQuery> => {
  const webhooks = [{ id: 8, eventType: IN }];
  return { webhooks, since: NOW, until: NOW + 1_000_000, ...changes };
};

type Missed = NonNullable<NextMissed['missed']>;

function all(view: AskedCore, query: Of<MissedQuery>): readonly Missed[] {
  const found: Missed[] = [];
  for (let after: ListPlace | null = null; ; ) {
    const { missed, reached } = view.nextMissed(query, after);
    if (missed) found.push(missed);
    if (!reached) return found;
    after = reached;
  }
}

const idsIn = (view: AskedCore, changes: Partial<Of<MissedQuery>> = {}) =>
  all(view, of(changes)).map(({ firstAt, webhookId }) => `pay-${firstAt - NOW} ${webhookId}`);

export const missing: readonly ViewCase[] = [
  viewCase('missed are payments of the type that were routed, not to the webhook, oldest first', ({ port }) => {
    port.add([
      ...[routing(4, { webhooks: [] }), routing(1), routing(2, { webhooks: [7, 8] })],
      ...[routing(3, { eventType: 'cash_out' }), routing(5, { accountId: 43 }), entry(6)],
    ]);
    expect(idsIn(port)).toEqual(['pay-1 8', 'pay-4 8']);
    expect(port.missedCount(of(), {})).toEqual({ count: 2, oldest: NOW + 1, newest: NOW + 4, completeSince: null });
    const [first] = all(port, of());
    const { firstAt, payment } = entry(1);
    expect(first).toEqual({ firstAt, payment, webhookId: 8, eventId: 'pay-1', eventSource: null });
  }),
  viewCase('what the webhook has a delivery of is not missed, though nothing was routed to it', ({ port }) => {
    port.add([routing(1), entry(1, { webhookId: 8, outcome: 'retrying', chain: 4, attempts: 0, recovery: 'r' })]);
    expect([idsIn(port), port.missedCount(of(), {})]).toMatchObject([[], { count: 0, oldest: null, newest: null }]);
    expect(port.recovery(ACCOUNT, 'r')).toEqual({ sent: 1, delivered: 0, failed: 0 });
  }),
  viewCase('a payment that several webhooks missed comes once for each, by their ids', ({ port }) => {
    port.add([routing(1), routing(2, { webhooks: [9] }), routing(3, { eventType: 'cash_out', webhooks: [] })]);
    const webhooks = [
      { id: 9, eventType: IN },
      { id: 8, eventType: IN },
      { id: REMOVED, eventType: 'cash_out' },
    ];
    expect(idsIn(port, { webhooks })).toEqual(['pay-1 8', 'pay-1 9', 'pay-2 8', `pay-3 ${REMOVED}`]);
    expect(port.missedCount(of({ webhooks }), {})).toMatchObject({ count: 4, oldest: NOW + 1, newest: NOW + 3 });
  }),
  viewCase('counted are those whose record its partition still has', ({ port }) => {
    const places = ['in/0/9', 'in/0/10', 'in/0/11', 'in/1/9', 'in/2/3', 'in/10/9', 'out/0/1'];
    port.add(places.map((place, n) => routing(n, { payment: `${place}@${NOW + n}` })));
    port.add([routing(7, { payment: 'in/0/8@-1' })]);
    const counted = (firstKept: Readonly<Record<string, number>>) => port.missedCount(of(), firstKept).count;
    expect(counted({ 'in/0/': 10, 'in/1/': 9, 'in/2/': 4 })).toBe(5);
    expect(counted({ 'in/10/': 10 })).toBe(7);
    expect(port.missedCount(of(), { 'in/0/': 11 })).toMatchObject({ oldest: NOW + 2, newest: NOW + 6 });
  }),
  viewCase(
    'payments of another type are examined too: a call stops among them, and the count passes all',
    ({ port }) => {
      port.add(Array.from({ length: 3_000 }, (_, n) => routing(n, { eventType: 'cash_out', webhooks: [] })));
      port.add([routing(3_000, { webhooks: [] })]);
      const { missed, reached } = port.nextMissed(of(), null);
      expect([missed, (reached?.firstAt ?? NOW + 3_000) < NOW + 2_500]).toEqual([null, true]);
      expect(idsIn(port)).toEqual(['pay-3000 8']);
      expect(port.missedCount(of(), {})).toMatchObject({ count: 1, oldest: NOW + 3_000, newest: NOW + 3_000 });
    },
  ),
  viewCase('a call looks at a bounded number of payments, and says how far it came', ({ port }) => {
    port.add(Array.from({ length: 5_000 }, (_, n) => routing(n, { webhooks: n === 4_999 ? [] : [8] })));
    const { missed, reached } = port.nextMissed(of(), null);
    expect(missed).toBeNull();
    expect(reached?.firstAt).toBeLessThan(NOW + 4_000);
    expect(idsIn(port)).toEqual(['pay-4999 8']);
  }),
];
