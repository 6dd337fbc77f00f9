/** Deliveries that can be sent again, and what became of those that were. */
import type { DeliveryPlace, RecoverableQuery, ViewEntry } from '../../../src/ports/deliveries-view.js';
import { entry, WEBHOOK } from '../../support/deliveries-view-subject.js';
import { ACCOUNT, NOW } from '../../support/delivery-samples.js';
import { idsOf, type ViewCase, viewCase } from './view-case.js';

const of = (changes: Partial<RecoverableQuery> = {}): RecoverableQuery => {
  const all = { since: NOW, until: NOW + 100, include: ['exhausted', 'retrying', 'held'], recovery: null } as const;
  return { accountId: ACCOUNT, webhookId: WEBHOOK, ...all, ...changes };
};

const ended = (n: number, changes: Partial<ViewEntry> = {}) =>
  entry(n, { outcome: 'exhausted', attempt: null, ...changes });

const STORED = [
  ...[ended(1), ended(2, { held: true }), ended(3, { outcome: 'retrying' }), entry(4)],
  ...[ended(5, { outcome: 'cancelled' }), ended(6), ended(7, { webhookId: 8 }), ended(8, { accountId: 43 })],
];

export const recovering: readonly ViewCase[] = [
  viewCase('recoverable are those of a webhook that are included, oldest first', ({ port }) => {
    port.add(STORED.toReversed());
    const found = (changes: Partial<RecoverableQuery>) => port.recoverable(of(changes), null, 9).map(({ id }) => id);
    expect(found({})).toEqual(idsOf(1, 2, 3, 6));
    expect(found({ include: ['held'] })).toEqual(idsOf(2));
    expect(found({ include: ['exhausted'] })).toEqual(idsOf(1, 6));
    expect(found({ since: NOW + 2, until: NOW + 6 })).toEqual(idsOf(2, 3));
    const [first, second] = port.recoverable(of(), null, 2);
    const after = second ? { ...second, payment: second.payment ?? '' } : null;
    expect(port.recoverable(of(), after, 9).map(({ id }) => id)).toEqual(idsOf(3, 6));
    expect(first).toMatchObject({ payment: entry(1).payment, turn: 1, webhookEvent: 'added-1', accountId: ACCOUNT });
    expect(port.recoverableCount(of())).toEqual({ count: 4, oldest: NOW + 1, newest: NOW + 6 });
    expect(port.recoverableCount(of({ webhookId: 9 }))).toEqual({ count: 0, oldest: null, newest: null });
  }),
  viewCase('each publication within a ms is recoverable, also where a page ends between them', ({ port }) => {
    const places = [7, 8, 9].map((partition) => `payment-events/${partition}/1@${NOW + 1}`);
    port.add([ended(2), ...places.map((payment) => ended(1, { payment }))]);
    const found: (string | null)[] = [];
    for (let after = null as DeliveryPlace | null; ; ) {
      const [next] = port.recoverable(of(), after, 1);
      if (!next) break;
      found.push(next.payment);
      after = { ...next, payment: next.payment ?? '' };
    }
    expect(found).toEqual([...places, entry(2).payment]);
  }),
  viewCase('what a recovery has put back is left out, and counted by what became of it', ({ port }) => {
    port.add(STORED);
    const again = (n: number, outcome: ViewEntry['outcome'], turn: number, recovery: string | null = null) =>
      ended(n, { outcome, turn, recovery, place: entry(10 * turn + n).place });
    port.add([again(1, 'retrying', 2, 'r'), again(2, 'retrying', 2, 'r'), again(3, 'retrying', 2, 'r')]);
    expect(port.recoverable(of({ recovery: 'r' }), null, 9).map(({ id }) => id)).toEqual(idsOf(6));
    expect(port.recoverableCount(of({ recovery: 'r' })).count).toBe(1);
    expect(port.recoverableCount(of({ recovery: 'other' })).count).toBe(4);
    port.add([again(1, 'delivered', 3), again(2, 'exhausted', 3)]);
    expect(port.recovery(ACCOUNT, 'r')).toEqual({ sent: 3, delivered: 1, failed: 1 });
    port.add([again(2, 'retrying', 4, 'later')]);
    expect(port.recovery(ACCOUNT, 'r')).toEqual({ sent: 2, delivered: 1, failed: 0 });
    expect(port.recovery(43, 'r')).toEqual({ sent: 0, delivered: 0, failed: 0 });
  }),
];
