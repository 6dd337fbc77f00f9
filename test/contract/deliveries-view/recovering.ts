/** Deliveries that can be sent again, and what became of those that were. */
import type { ListPlace, RecoverableQuery, ViewEntry, ViewedDelivery } from '../../../src/ports/deliveries-view.js';
import { ACCOUNT, NOW } from '../../support/generators/delivery-samples.js';
import { type AskedCore, entry, type Of, WEBHOOK } from '../../support/scenes/deliveries-view-subject.js';
import { idsOf, type ViewCase, viewCase } from './view-case.js';

const of = (changes: Partial<Of<RecoverableQuery>> = {}): Of<RecoverableQuery> => {
  const all = { since: NOW, until: NOW + 100, include: ['exhausted', 'retrying', 'held'] } as const;
  return { webhookIds: [WEBHOOK], ...all, ...changes };
};

const ended = (n: number, changes: Partial<ViewEntry> = {}) =>
  entry(n, { outcome: 'exhausted', attempt: null, ...changes });

/** A request for the nth delivery. */
const asked = (n: number, chain: number, recovery?: string) =>
  ended(n, { outcome: 'retrying', chain, attempts: 0, recovery, place: entry(100 + n).place });

const STORED = [
  ...[ended(1), ended(2, { held: true }), ended(3, { outcome: 'retrying' }), entry(4)],
  ...[ended(5, { outcome: 'cancelled' }), ended(6), ended(7, { webhookId: 8 }), ended(8, { accountId: 43 })],
];

/** As a recovery goes on: from place to place, until nothing is behind. */
function all(view: AskedCore, query: Of<RecoverableQuery>, recovery = 'r'): readonly ViewedDelivery[] {
  const found: ViewedDelivery[] = [];
  for (let after: ListPlace | null = null; ; ) {
    const { delivery, reached } = view.nextRecoverable(query, recovery, after);
    if (!reached) return found;
    if (delivery) found.push(delivery);
    after = reached;
  }
}

const idsIn = (view: AskedCore, changes: Partial<Of<RecoverableQuery>> = {}, recovery = 'r') =>
  all(view, of(changes), recovery).map(({ id }) => id);

export const recovering: readonly ViewCase[] = [
  viewCase('recoverable are those of the webhooks that are included, oldest first', ({ port }) => {
    port.add(STORED.toReversed());
    expect(idsIn(port)).toEqual(idsOf(1, 2, 3, 6));
    expect(idsIn(port, { include: ['held'] })).toEqual(idsOf(2));
    expect(idsIn(port, { include: ['exhausted'] })).toEqual(idsOf(1, 6));
    expect(idsIn(port, { since: NOW + 2, until: NOW + 6 })).toEqual(idsOf(2, 3));
    expect(idsIn(port, { webhookIds: [8, WEBHOOK, 9] })).toEqual(idsOf(1, 2, 3, 6, 7));
    const { delivery, reached } = port.nextRecoverable(of(), 'r', null);
    expect(delivery).toMatchObject({ payment: entry(1).payment, webhookEvent: 'added-1', accountId: ACCOUNT });
    expect(reached).toEqual({ firstAt: NOW + 1, payment: entry(1).payment, tie: entry(1).id });
  }),
  viewCase('they are counted over several webhooks', ({ port }) => {
    port.add(STORED);
    expect(port.recoverableCount(of())).toEqual({ count: 4, oldest: NOW + 1, newest: NOW + 6 });
    const both = of({ webhookIds: [8, WEBHOOK] });
    expect(port.recoverableCount(both)).toEqual({ count: 5, oldest: NOW + 1, newest: NOW + 7 });
    expect(port.recoverableCount(of({ webhookIds: [9] }))).toEqual({ count: 0, oldest: null, newest: null });
  }),
  viewCase('what any request of a recovery names is left out, and counted by what became of it', ({ port }) => {
    port.add([asked(1, 2, 'r'), ...STORED, asked(2, 3, 'r'), asked(3, 4, 'r')]);
    port.add([asked(1, 2, 'r')]);
    expect(idsIn(port)).toEqual(idsOf(6));
    expect(idsIn(port, {}, 'other')).toEqual(idsOf(1, 2, 3, 6));
    port.add([entry(1, { chain: 2 }), ended(2, { chain: 3 })]);
    expect(port.recovery(ACCOUNT, 'r')).toEqual({ sent: 3, delivered: 1, failed: 1 });
    port.add([asked(2, 9, 'later'), asked(3, 8)]);
    expect(port.recovery(ACCOUNT, 'r')).toEqual({ sent: 3, delivered: 1, failed: 0 });
    expect(port.recovery(ACCOUNT, 'later')).toEqual({ sent: 1, delivered: 0, failed: 0 });
    expect(idsIn(port)).toEqual(idsOf(6));
    expect(port.recovery(43, 'r')).toEqual({ sent: 0, delivered: 0, failed: 0 });
  }),
  viewCase('what was put back and cancelled is recoverable again, for another recovery', ({ port }) => {
    port.add([ended(1), ended(2, { held: true }), asked(1, 2, 'r'), asked(2, 3, 'r')]);
    const cancelled = { outcome: 'cancelled', attempts: 0 } as const;
    port.add([ended(1, { chain: 4, ...cancelled }), ended(2, { chain: 3, ...cancelled })]);
    expect(idsIn(port, { include: ['exhausted'] }, 'other')).toEqual(idsOf(1));
    expect(idsIn(port, { include: ['held'] }, 'other')).toEqual(idsOf(2));
    expect([idsIn(port), port.recovery(ACCOUNT, 'r')]).toEqual([[], { sent: 2, delivered: 0, failed: 2 }]);
  }),
  viewCase('a call passes a bounded number of what was requested, and says how far it came', ({ port }) => {
    const many = Array.from({ length: 3_000 }, (_, n) => n);
    port.add(many.flatMap((n) => [ended(n), asked(n, n + 1, 'r')]));
    port.add([ended(3_000)]);
    const query = of({ until: NOW + 9_999 });
    const { delivery, reached } = port.nextRecoverable(query, 'r', null);
    expect(delivery).toBeNull();
    expect(reached?.firstAt).toBeLessThan(NOW + 2_500);
    expect(idsIn(port, query)).toEqual(idsOf(3_000));
  }),
];
