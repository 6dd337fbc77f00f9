/** What is kept, what is forgotten, and when a view is of no use any more. */
import { expect } from '@jest/globals';
import { ViewUnsound } from '../../../src/ports/deliveries-view.js';
import { entries, entry, query } from '../../support/deliveries-view-subject.js';
import { ACCOUNT, NOW } from '../../support/delivery-samples.js';
import { ids, idsOf, story, told, type ViewCase, viewCase } from './view-case.js';

export const keeping: readonly ViewCase[] = [
  viewCase('add stores all of its entries or, where it throws, none', ({ port }) => {
    port.add([entry(1, { outcome: 'retrying' })]);
    const unstorable = entry(3, { outcome: Symbol('none') as unknown as 'delivered' });
    expect(() => port.add([entry(1, { place: entry(5).place }), entry(2), unstorable])).toThrow();
    expect(port.page(query()).deliveries.map(({ id, outcome }) => [id, outcome])).toEqual([[entry(1).id, 'retrying']]);
    port.add([entry(2)]);
    expect(ids(port)).toEqual(idsOf(2, 1));
  }),
  viewCase(
    'what was added is there when it is opened again, under the same id',
    async ({ port, reopen }) => {
      port.add(story('msg_a'));
      const again = await reopen();
      expect([again.id, again.page(query()).deliveries]).toEqual([port.id, [told('msg_a')]]);
      again.add(story('msg_a'));
      expect(again.page(query()).deliveries).toEqual([told('msg_a')]);
    },
    'reopen',
  ),
  viewCase('forget lets go of deliveries whose last entry is older, oldest first, and of no other', ({ port }) => {
    port.add(entries(2_000));
    port.add([entry(5, { place: { partition: 0, offset: 5_000, timestamp: NOW + 5_000 } })]);
    port.forget(NOW);
    expect(ids(port, { limit: 3_000 })).toHaveLength(2_000);
    port.forget(NOW + 1_500);
    const left = ids(port, { limit: 3_000 });
    expect(left.length).toBeLessThan(2_000);
    expect(left).toEqual(expect.arrayContaining(idsOf(1_999, 1_000, 5)));
    for (let round = 0; round < 2_000; round += 1) port.forget(NOW + 1_500);
    expect(ids(port, { limit: 3_000 })).toEqual(idsOf(...entries(500).map((_, n) => 1_999 - n), 5));
  }),
  viewCase('an entry at a place where another has been makes it unsound', ({ port }) => {
    port.add([entry(0), entry(1), entry(4, { partition: 1 })]);
    port.add([entry(0), entry(4, { partition: 1 })]);
    const anew = (n: number, partition: number) => ({ partition, offset: n, timestamp: NOW + 60_000 });
    expect(() => port.add([entry(9, { place: anew(0, 0) })])).toThrow(ViewUnsound);
    expect(() => port.add([entry(9, { place: anew(4, 1) })])).toThrow(ViewUnsound);
    expect(ids(port)).toHaveLength(3);
  }),
  viewCase(
    'places are remembered when it is opened again, later ones as well as the first',
    async ({ port, reopen }) => {
      port.add(
        entries(100).map((one, n) => ({ ...one, place: { partition: 3, offset: n, timestamp: NOW + n * 1_000 } })),
      );
      const again = await reopen();
      const anew = entries(60).map((one, n) => ({
        ...one,
        place: { partition: 3, offset: 40 + n, timestamp: NOW + 1e9 },
      }));
      expect(() => again.add(anew)).toThrow(ViewUnsound);
    },
    'reopen',
  ),
  viewCase(
    'a method that finds it damaged throws ViewUnsound',
    async (subject) => {
      subject.port.add(entries(3_000));
      const opened = await subject.reopen();
      await subject.damage();
      expect(() => opened.page(query())).toThrow(ViewUnsound);
      expect(() => opened.add(entries(3_000))).toThrow(ViewUnsound);
    },
    'damage',
  ),
  viewCase(
    'after discard a new view is opened, with an id of its own',
    async (subject) => {
      const { id } = subject.port;
      subject.port.add([entry(1)]);
      subject.port.discard();
      const anew = await subject.reopen();
      expect([anew.id === id, ids(anew)]).toEqual([false, []]);
      anew.add([entry(1, { accountId: ACCOUNT, place: { partition: 0, offset: 1, timestamp: NOW + 77 } })]);
      expect(ids(anew)).toEqual(idsOf(1));
    },
    'reopen',
  ),
  viewCase('close may be called twice, after discard too', ({ port }) => {
    port.close();
    expect(() => port.close()).not.toThrow();
    port.discard();
    expect(() => port.close()).not.toThrow();
  }),
];
