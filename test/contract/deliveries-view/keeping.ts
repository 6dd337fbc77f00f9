/** What is kept, what is forgotten, and when a view is of no use any more. */
import type { Position } from '../../../src/ports/broker.js';
import { type ViewTopic, ViewUnsound } from '../../../src/ports/deliveries-view.js';
import { ACCOUNT, NOW } from '../../support/generators/delivery-samples.js';
import { entries, entry, query } from '../../support/scenes/deliveries-view-subject.js';
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
  viewCase('what was added is there when it is opened again, under the same id', async (subject) => {
    const { port } = subject;
    port.add(story('msg_a'));
    const again = await subject.reopen();
    expect([again.id, again.page(query()).deliveries]).toMatchObject([port.id, [told('msg_a')]]);
    again.add(story('msg_a'));
    expect(again.page(query()).deliveries).toMatchObject([told('msg_a')]);
  }),
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
  viewCase(
    'the positions that add was given are there when it is opened again, the last ones of each partition of a topic',
    async (subject) => {
      const { port } = subject;
      const at = (offset: number) => ({ offset, before: { offset: offset - 1, timestamp: NOW + offset } });
      expect([port.positions('deliveries'), port.positions('requests')]).toEqual([new Map(), new Map()]);
      const of = (topic: ViewTopic, partition: number, position: Position) =>
        new Map([[topic, new Map([[partition, position]])]]);
      port.add([entry(1)], of('deliveries', 0, at(2)));
      port.add([entry(2)], new Map([...of('deliveries', 3, at(7)), ...of('requests', 0, at(5))]));
      port.add([], of('deliveries', 0, { offset: 9, before: null }));
      const unstorable = entry(3, { outcome: Symbol('none') as unknown as 'delivered' });
      expect(() => port.add([unstorable], of('deliveries', 3, at(8)))).toThrow();
      const again = await subject.reopen();
      expect(again.positions('requests')).toEqual(new Map([[0, at(5)]]));
      expect(again.positions('deliveries')).toEqual(
        new Map<number, Position>([
          [0, { offset: 9, before: null }],
          [3, at(7)],
        ]),
      );
    },
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
  viewCase('after discard a new view is opened, with an id of its own', async (subject) => {
    const { id } = subject.port;
    subject.port.add([entry(1)]);
    subject.port.discard();
    const anew = await subject.reopen();
    expect([anew.id === id, ids(anew)]).toEqual([false, []]);
    anew.add([entry(1, { accountId: ACCOUNT, place: { partition: 0, offset: 1, timestamp: NOW + 77 } })]);
    expect(ids(anew)).toEqual(idsOf(1));
  }),
];
