/** The order of deliveries, pages of it, and what narrows them. */
import type { ViewEntry } from '../../../src/ports/deliveries-view.js';
import { OUTCOMES } from '../../../src/ports/delivery-order.js';
import { NOW } from '../../support/generators/delivery-samples.js';
import { entries, entry, query, routing } from '../../support/scenes/deliveries-view-subject.js';
import { ids, idsOf, type ViewCase, viewCase, walked } from './view-case.js';

export const paging: readonly ViewCase[] = [
  viewCase('newest payment first, in whatever order entries come: one that is retried does not move', ({ port }) => {
    port.add([entry(3), entry(1, { outcome: 'retrying' }), entry(2)]);
    port.add([entry(1, { place: { partition: 0, offset: 9, timestamp: NOW + 9 } })]);
    expect(ids(port)).toEqual(idsOf(3, 2, 1));
  }),
  viewCase('of one moment by their payment, then by id, whatever their outcome', ({ port }) => {
    const payment = (n: number) => `payment-events/${n >> 1}/1@${NOW}`;
    const of = (n: number) => ({ firstAt: NOW, payment: payment(3 - n), outcome: OUTCOMES[n] ?? 'delivered' });
    port.add([2, 0, 3, 1].map((n) => entry(n, of(n))));
    expect(ids(port)).toEqual(idsOf(1, 0, 3, 2));
  }),
  viewCase('pages of any size give every delivery once, and the last of them has no next', ({ port }) => {
    const all = entries(40).map((one, n) => ({
      ...one,
      outcome: OUTCOMES[n % 4] ?? 'delivered',
      firstAt: NOW + Math.floor(n / 7),
    }));
    port.add(all);
    const whole = ids(port);
    expect([...whole].sort()).toEqual(all.map(({ id }) => id).sort());
    for (const limit of [1, 2, 5, 7, 39, 40, 41]) expect(walked(port, limit)).toEqual(whole);
    expect(port.page(query({ limit: 40 })).next).toBeNull();
    expect(port.page(query({ limit: 39 })).next).not.toBeNull();
  }),
  viewCase('a page goes on at the same place whatever has come since', ({ port }) => {
    port.add(entries(20));
    let more = 100;
    const between = () => {
      port.add([entry(more, { outcome: 'retrying' }), entry(more + 1)]);
      more += 2;
    };
    expect(walked(port, 3, between)).toEqual(idsOf(...entries(20).map((_, n) => 19 - n)));
  }),
  viewCase('a page goes on at the same place in a view that was filled anew', async (subject) => {
    const at = (one: ViewEntry) => ({ ...one, firstAt: NOW + (one.place.offset % 3) });
    const all = entries(12).map(at);
    subject.port.add(all);
    const first = subject.port.page(query({ limit: 5 }));
    const rest = ids(subject.port, { before: first.next });
    subject.port.discard();
    const anew = await subject.reopen();
    anew.add(all.toReversed());
    expect(ids(anew, { before: first.next })).toEqual(rest);
    expect(rest).toHaveLength(7);
  }),
  viewCase('only one outcome, where it is asked for', ({ port }) => {
    port.add(entries(12).map((one, n) => ({ ...one, outcome: OUTCOMES[n % 4] ?? 'delivered' })));
    for (const [index, outcome] of OUTCOMES.entries()) {
      expect(ids(port, { outcome })).toEqual(idsOf(8 + index, 4 + index, index));
      const { next } = port.page(query({ outcome, limit: 2 }));
      expect(ids(port, { outcome, before: next })).toEqual(idsOf(index));
    }
    port.add([entry(1, { outcome: 'cancelled', place: { partition: 0, offset: 90, timestamp: NOW + 90 } })]);
    expect(ids(port, { outcome: 'retrying' })).toEqual(idsOf(9, 5));
    expect(ids(port, { outcome: 'cancelled' })).toEqual(idsOf(11, 7, 3, 1));
  }),
  viewCase('few of an outcome among many are found, be it on a page after empty ones', ({ port }) => {
    const last = 6_000;
    port.add([entry(0), ...entries(last).map((_, n) => entry(n + 1, { outcome: 'exhausted' })), entry(last + 1)]);
    expect(walked(port, 50, undefined, { outcome: 'delivered' })).toEqual(idsOf(last + 1, 0));
    port.add([entry(last + 2, { firstAt: NOW + 3, outcome: 'cancelled' })]);
    expect(port.page(query({ outcome: 'cancelled' }))).toMatchObject({
      deliveries: [{ id: idsOf(last + 2)[0] }],
      next: null,
    });
  }),
  viewCase(
    'events without deliveries are examined too: a page stops among them, and the next one continues',
    ({ port }) => {
      port.add([entry(0), ...entries(3_000).map((_, n) => routing(n + 1, { webhooks: [] }))]);
      const first = port.page(query({ webhookId: null, limit: 10 }));
      expect([first.deliveries, first.next === null]).toEqual([[], false]);
      expect(walked(port, 10, undefined, { webhookId: null })).toEqual(idsOf(0));
    },
  ),
  viewCase('payments of one moment are in order however many they are', ({ port }) => {
    const of = (n: number) => ({ firstAt: NOW, payment: `payment-events/0/${n}@${NOW}` });
    port.add(Array.from({ length: 1_500 }, (_, n) => [routing(n, of(n)), entry(n, of(n))]).flat());
    const order = idsOf(...Array.from({ length: 1_500 }, (_, n) => 1_499 - n));
    expect(walked(port, 400)).toEqual(order);
    expect(walked(port, 400, undefined, { webhookId: null })).toEqual(order);
  }),
  viewCase('only a time, where it is asked for: from is in it, to is not', ({ port }) => {
    port.add(entries(10));
    const [from, to] = [NOW + 3, NOW + 7];
    expect(ids(port, { from, to })).toEqual(idsOf(6, 5, 4, 3));
    expect(ids(port, { from: to })).toEqual(idsOf(9, 8, 7));
    expect(ids(port, { to: from })).toEqual(idsOf(2, 1, 0));
    expect(ids(port, { from, to: from })).toEqual([]);
    const { next } = port.page(query({ from, to, limit: 3 }));
    expect(port.page(query({ from, to, limit: 3, before: next }))).toMatchObject({
      deliveries: [{ id: idsOf(3)[0] }],
      next: null,
    });
    expect(ids(port, { from, to, outcome: 'retrying' })).toEqual([]);
  }),
];
