/** What entries come to: the deliveries that a page shows. */
import type { ViewEntry } from '../../../src/ports/deliveries-view.js';
import type { Outcome } from '../../../src/ports/delivery-order.js';
import { ACCOUNT, NOW } from '../../support/generators/delivery-samples.js';
import {
  attempt,
  entry,
  eventsQuery,
  query,
  REMOVED,
  routing,
  WEBHOOK,
} from '../../support/scenes/deliveries-view-subject.js';
import { ids, idsOf, story, told, type ViewCase, viewCase, walked } from './view-case.js';

/** The payment of another publication in the ms of entry(1). */
const other = `payment-events/7/5@${NOW + 1}`;

export const folding: readonly ViewCase[] = [
  viewCase('an entry is shown as it was given', ({ port }) => {
    const eventId = 'ä"\\\u0000\ud800😀';
    const failed = attempt(3, { status: null, error: 'tls', reason: null, durationMs: 0.5, version: 9 });
    const nextAttemptAt = '2026-11-21T10:00:00.000Z';
    const wait = { nextAttemptAt, waitingFor: 'schedule' } as const;
    port.add([entry(1, { eventId, attempt: failed, outcome: 'retrying', ...wait })]);
    const [id] = idsOf(1);
    const about = { webhookId: WEBHOOK, eventType: 'cash_in', firstAt: NOW + 1, held: false, endedBy: null };
    const delivery = { ...about, id, eventId, outcome: 'retrying', attempts: [failed], ...wait };
    expect(port.page(query())).toMatchObject({ deliveries: [delivery], next: null, completeSince: null });
  }),
  viewCase('entries of a delivery may come in any order, together or one by one', ({ port }) => {
    const all = orders(story('')).map((order, index) => order.map((one) => ({ ...one, id: `msg_${index}` })));
    all.forEach((order, index) => {
      if (index % 2 === 0) port.add(order);
      else for (const one of order) port.add([one]);
      expect(port.page(query({ limit: 1_000 })).deliveries).toContainEqual(
        expect.objectContaining(told(`msg_${index}`)),
      );
    });
    expect(all).toHaveLength(24);
  }),
  viewCase('an attempt that stands twice in the topic is shown once', ({ port }) => {
    const twice = { id: 'msg_a', eventId: 'pay', firstAt: NOW, attempt: attempt(1) };
    port.add([entry(1, twice), entry(2, twice), entry(2, { ...twice, partition: 1 })]);
    expect(port.page(query()).deliveries.map(({ attempts }) => attempts)).toEqual([[attempt(1)]]);
  }),
  viewCase('an event has at most 1,000 deliveries and webhooks, whatever is forged', ({ port }) => {
    const forged = Array.from({ length: 1_100 }, (_, n) => entry(1, { id: `msg_${n}`, eventId: 'pay', firstAt: NOW }));
    port.add(forged.slice(0, 600));
    port.add(forged.slice(600));
    const webhooks = Array.from({ length: 1_100 }, (_, n) => n + 1);
    port.add([routing(1, { eventId: 'pay', firstAt: NOW, webhooks, payment: forged[0]?.payment as string })]);
    const { deliveries } = port.page(query({ limit: 2_000 }));
    expect(deliveries).toHaveLength(1_000);
  }),
  viewCase('attempts are in the order in which they began, and of one moment none is lost', ({ port }) => {
    const at = (n: number, began: number) =>
      entry(n, { id: 'msg_a', eventId: 'pay', firstAt: NOW, attempt: attempt(began, { durationMs: n }) });
    const all = [at(1, 9), at(2, 7), at(3, 5), at(4, 5)];
    for (const [index, order] of orders(all).entries()) {
      port.add(order.map((entryOf) => ({ ...entryOf, id: `msg_${index}` })));
    }
    const { deliveries } = port.page(query());
    expect(new Set(deliveries.map(({ attempts }) => attempts.map(({ durationMs }) => durationMs).join()))).toEqual(
      new Set(['3,4,2,1']),
    );
  }),
  viewCase('what was given up holds where a later chain was cancelled, in any order, and twice', ({ port }) => {
    const of = (chain: number, outcome: Outcome, changes: Partial<ViewEntry> = {}) =>
      entry(1, { chain, outcome, attempts: 0, attempt: null, place: entry(10 + chain).place, ...changes });
    const held = of(2, 'exhausted', { held: true });
    const all = [of(0, 'exhausted', { attempts: 1 }), held, of(4, 'retrying', { step: 3 }), of(6, 'cancelled')];
    for (const [index, order] of orders(all).entries()) {
      for (const one of [...order, ...order]) port.add([{ ...one, id: `msg_${index}` }]);
      expect(port.publications(ACCOUNT, `msg_${index}`)).toMatchObject([
        { outcome: 'exhausted', held: true, requests: 2 },
      ]);
    }
    expect(port.health(ACCOUNT).get(WEBHOOK)).toMatchObject({ held: 24, exhausted: 0, waiting: 0 });
    expect(port.page(query({ outcome: 'cancelled' })).deliveries).toEqual([]);
    port.add([{ ...of(8, 'retrying'), id: 'msg_0' }]);
    expect(ids(port, { outcome: 'retrying' })).toEqual(['msg_0']);
    port.add([{ ...of(9, 'cancelled'), id: 'msg_0' }]);
    expect(ids(port, { outcome: 'retrying' })).toEqual([]);
  }),
  viewCase('so has one that was published twice within a ms: each with its own attempts, on every page', ({ port }) => {
    const twice = [
      entry(1, { attempt: attempt(1) }),
      entry(1, { payment: other, outcome: 'exhausted', attempt: attempt(2, { status: 500 }) }),
      entry(1, {
        payment: other,
        outcome: 'retrying',
        chain: 3,
        attempts: 0,
        attempt: null,
        nextAttemptAt: '2026-11-21T09:00:09.000Z',
      }),
    ];
    port.add([...twice.slice(0, 2), routing(1), routing(1, { payment: other, index: 1 })]);
    port.add([...twice, entry(0), entry(2)]);
    const found = port.publications(ACCOUNT, entry(1).id);
    expect(found.map(({ payment }) => payment)).toEqual([entry(1).payment, other]);
    expect(found.map(({ attempts }) => attempts)).toEqual([[attempt(1)], [attempt(2, { status: 500 })]]);
    expect(walked(port, 1)).toEqual(idsOf(2, 1, 1, 0));
    expect(walked(port, 1, undefined, { webhookId: null, eventId: 'pay-1' })).toEqual(idsOf(1, 1));
    expect(ids(port, { outcome: 'retrying' })).toEqual(idsOf(1));
    expect(port.health(ACCOUNT).get(WEBHOOK)).toMatchObject({ waiting: 1 });
    const sentTo = port.events(eventsQuery({ eventId: 'pay-1' })).events.map((event) => event.sentTo[0]?.outcome);
    expect(sentTo).toEqual(['delivered', 'retrying']);
  }),
  viewCase('what waits for a removed webhook is cancelled, and nothing else of it changes', ({ port }) => {
    const nextAttemptAt = '2026-11-21T10:00:00.000Z';
    const again = { outcome: 'retrying', chain: 4, attempts: 0, attempt: null } as const;
    const of = (n: number, changes: Partial<ViewEntry> = {}) => entry(n, { webhookId: REMOVED, ...changes });
    port.add([
      of(1, { outcome: 'retrying', nextAttemptAt, waitingFor: 'queue' }),
      of(2, { outcome: 'cancelled' }),
      of(3),
      of(3, again),
    ]);
    port.add([entry(4, { outcome: 'retrying', nextAttemptAt }), routing(1, { webhooks: [REMOVED] })]);
    const all = { webhookId: null } as const;
    const ended = { outcome: 'cancelled', nextAttemptAt: null, waitingFor: null, endedBy: 'webhook-removed' };
    expect(port.page(query({ ...all, outcome: 'cancelled' })).deliveries).toMatchObject([
      { outcome: 'cancelled', endedBy: null },
      ended,
    ]);
    expect(ids(port, { ...all, outcome: 'retrying' })).toEqual(idsOf(4));
    expect(port.page(query({ ...all, eventId: 'pay-1' })).deliveries).toMatchObject([ended]);
    expect(port.publications(ACCOUNT, entry(1).id)).toMatchObject([ended]);
    expect(port.publications(ACCOUNT, entry(3).id)).toMatchObject([
      { outcome: 'delivered', sentAgain: false, requests: 1, endedBy: null },
    ]);
    expect(port.events(eventsQuery({ eventId: 'pay-1' })).events[0]?.sentTo).toMatchObject([{ outcome: 'cancelled' }]);
  }),
  viewCase('the removal that ended a delivery stays its end', ({ port }) => {
    port.add([entry(1, { outcome: 'cancelled', endedBy: 'webhook-removed', attempt: null }), entry(2)]);
    expect(port.page(query({ outcome: 'cancelled' })).deliveries).toMatchObject([{ endedBy: 'webhook-removed' }]);
    const stats = { accountId: ACCOUNT, from: 0, to: 2 * NOW, step: '1h', webhookId: null, eventType: null } as const;
    expect(port.stats(stats)).toMatchObject([{ cancelled: 1, delivered: 1 }]);
  }),
];

function orders<T>(items: readonly T[]): T[][] {
  if (items.length === 0) return [[]];
  return items.flatMap((item, index) => orders(items.toSpliced(index, 1)).map((rest) => [item, ...rest]));
}
