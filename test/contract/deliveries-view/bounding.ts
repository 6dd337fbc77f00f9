/** A view that has its size: what arrived at its first attempt leaves it, oldest first. */
import { ACCOUNT, NOW } from '../../support/generators/delivery-samples.js';
import {
  entries,
  entry,
  eventsQuery,
  feedQuery,
  query,
  routing,
} from '../../support/scenes/deliveries-view-subject.js';
import { ids, idsOf, type ViewCase, viewCase, walked } from './view-case.js';

const COUNT = 20_000;
const KEPT = [
  ...[entry(1, { outcome: 'exhausted' }), entry(2, { outcome: 'retrying' }), entry(3, { attempts: 2 })],
  ...[entry(4, { outcome: 'exhausted', chain: 2 }), routing(5, { webhooks: [] }), entry(4)],
];

export const bounding: readonly ViewCase[] = [
  viewCase(
    'what failed, waits, was sent again or went nowhere stays, and of the others the newest; lists say since when',
    ({ port }) => {
      const all = entries(COUNT).flatMap((one, n) => (n > 5 ? [routing(n), one] : []));
      port.add([routing(0), entry(0), ...KEPT]);
      expect(port.page(query()).completeSince).toBeNull();
      for (let n = 0; n < all.length; n += 500) port.add(all.slice(n, n + 500));
      const { completeSince } = port.page(query());
      const since = (completeSince ?? 0) - NOW;
      const shown = walked(port, 1_000);
      expect(shown.length).toBeLessThan(COUNT - 5_000);
      const newest = Array.from({ length: COUNT - since }, (_, n) => COUNT - 1 - n);
      expect(shown).toEqual(idsOf(...newest, 4, 3, 2, 1));
      expect(port.events(eventsQuery({ arrived: 'nobody' }))).toMatchObject({
        events: [{ eventId: 'pay-5' }],
        completeSince,
      });
      expect(port.feed(feedQuery({ limit: 1 }))).toMatchObject({ events: [{ eventId: 'pay-5' }], completeSince });
    },
  ),
  viewCase('what left is counted, and is not found', ({ port }) => {
    for (let n = 0; n < COUNT; n += 500) port.add(entries(n + 500).slice(n));
    const stats = { accountId: ACCOUNT, from: 0, to: 2 * NOW, step: '1h', webhookId: null, eventType: null } as const;
    expect(port.stats(stats).reduce((sum, { delivered }) => sum + delivered, 0)).toBe(COUNT);
    expect(port.health(ACCOUNT).size).toBe(1);
    expect([port.publications(ACCOUNT, entry(0).id), ids(port, { eventId: 'pay-0' })]).toEqual([[], []]);
    expect(ids(port, { limit: 1 })).toEqual(idsOf(COUNT - 1));
  }),
];
