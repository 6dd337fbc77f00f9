/** What arrived of an event, and what narrows events by it. */
import type { Arrived, EventsQuery, ViewEntry } from '../../../src/ports/deliveries-view.js';
import { ACCOUNT, NOW } from '../../support/generators/delivery-samples.js';
import {
  attempt,
  entry,
  eventsQuery,
  feedQuery,
  type Of,
  routing,
} from '../../support/scenes/deliveries-view-subject.js';
import { type ViewCase, type ViewSubject, viewCase } from './view-case.js';

type Port = ViewSubject['port'];

const sent = (n: number, webhookId: number, changes: Partial<ViewEntry> = {}) =>
  entry(n, { id: `msg_${n}_${webhookId}`, webhookId, ...changes });
const failed = { outcome: 'exhausted', attempt: attempt(1, { status: 503 }) } as const;
const timedOut = { outcome: 'retrying', attempt: attempt(1, { status: null, error: 'timeout' }) } as const;

/** One of each: to nobody, nowhere, in part, to all. */
const STORED = [
  routing(1, { webhooks: [] }),
  ...[routing(2, { webhooks: [7, 8] }), sent(2, 7, failed), sent(2, 8, { ...timedOut })],
  ...[routing(3, { webhooks: [7, 8] }), sent(3, 7), sent(3, 8, { outcome: 'exhausted', held: true, attempt: null })],
  ...[routing(4, { webhooks: [7, 8] }), sent(4, 7), sent(4, 8)],
];

const eventIds = (port: Port, only: Partial<Of<EventsQuery>> = {}) =>
  port.events(eventsQuery(only)).events.map(({ eventId }) => eventId);

const feedIds = (port: Port, only: Parameters<typeof feedQuery>[0] = {}) =>
  port.feed(feedQuery(only)).events.map(({ eventId }) => eventId);

function arrivedOf(port: Port, n: number): Arrived | undefined {
  return port.events(eventsQuery({ eventId: `pay-${n}` })).events[0]?.arrived;
}

export const arriving: readonly ViewCase[] = [
  viewCase('an event says where it arrived, whatever the order of its entries, and of their batches', ({ port }) => {
    for (const one of STORED.toReversed()) port.add([one]);
    expect([1, 2, 3, 4].map((n) => arrivedOf(port, n))).toEqual(['nobody', 'nowhere', 'part', 'all']);
    port.add(STORED);
    expect([1, 2, 3, 4].map((n) => arrivedOf(port, n))).toEqual(['nobody', 'nowhere', 'part', 'all']);
  }),
  viewCase('an event of which nothing is routed yet counts by its deliveries', ({ port }) => {
    port.add([sent(1, 7)]);
    expect(arrivedOf(port, 1)).toBe('all');
    port.add([routing(1, { webhooks: [7, 9] })]);
    expect(arrivedOf(port, 1)).toBe('part');
  }),
  viewCase('an event is pending until each webhook that it was routed to has a delivery', ({ port }) => {
    const pending = () => eventIds(port, { arrived: 'pending' });
    port.add(STORED);
    expect(pending()).toEqual([]);
    port.add([routing(5, { webhooks: [7, 8] }), routing(6, { webhooks: [7] })]);
    expect(pending()).toEqual(['pay-6', 'pay-5']);
    expect(eventIds(port, { arrived: 'incomplete' })).toEqual(['pay-6', 'pay-5', 'pay-3', 'pay-2']);
    port.add([sent(5, 7), sent(6, 7, failed)]);
    expect([pending(), arrivedOf(port, 5), arrivedOf(port, 6)]).toEqual([['pay-5'], 'part', 'nowhere']);
    port.add([sent(5, 8)]);
    expect([pending(), arrivedOf(port, 5)]).toEqual([[], 'all']);
  }),
  viewCase('events are narrowed by what arrived, where, by its answers, and by all of these', ({ port }) => {
    port.add(STORED);
    port.add([routing(5, { webhooks: [9] })]);
    expect(eventIds(port, { arrived: 'nobody' })).toEqual(['pay-1']);
    expect(eventIds(port, { arrived: 'nowhere' })).toEqual(['pay-5', 'pay-2']);
    expect(eventIds(port, { arrived: 'part' })).toEqual(['pay-3']);
    expect(eventIds(port, { arrived: 'incomplete' })).toEqual(['pay-5', 'pay-3', 'pay-2']);
    expect(eventIds(port, { arrived: 'all' })).toEqual(['pay-4']);
    expect(eventIds(port, { webhookIds: [9, 8] })).toEqual(['pay-5', 'pay-4', 'pay-3', 'pay-2']);
    expect(eventIds(port, { webhookIds: [] })).toEqual([]);
    expect(eventIds(port, { status: '5xx' })).toEqual(['pay-2']);
    expect(eventIds(port, { status: '2xx' })).toEqual(['pay-4', 'pay-3']);
    expect(eventIds(port, { status: 'none' })).toEqual(['pay-3', 'pay-2']);
    expect(eventIds(port, { errors: ['timeout', 'dns'] })).toEqual(['pay-2']);
    expect(eventIds(port, { errors: ['dns'] })).toEqual([]);
    expect(eventIds(port, { status: '5xx', errors: ['timeout'] })).toEqual([]);
    expect(eventIds(port, { arrived: 'nowhere', webhookIds: [9], status: '5xx' })).toEqual([]);
    expect(eventIds(port, { arrived: 'nowhere', from: NOW + 3 })).toEqual(['pay-5']);
    expect(feedIds(port, { arrived: 'part' })).toEqual(['pay-3']);
    expect(feedIds(port, { webhookIds: [7], status: '5xx' })).toEqual(['pay-2']);
  }),
  viewCase('what all arrived and then failed when it was resent is found by its last answer', ({ port }) => {
    port.add([routing(1), entry(1), routing(2), entry(2)]);
    port.add([entry(1, { outcome: 'exhausted', chain: 3, attempt: attempt(50, { status: 404 }) })]);
    expect([arrivedOf(port, 1), eventIds(port, { status: '4xx' })]).toEqual(['all', ['pay-1']]);
    expect(eventIds(port, { arrived: 'all' })).toEqual(['pay-2', 'pay-1']);
    expect(eventIds(port, { arrived: 'all', status: '4xx' })).toEqual(['pay-1']);
    port.add([entry(1, { chain: 5, attempt: attempt(60) })]);
    expect(eventIds(port, { status: '4xx' })).toEqual([]);
  }),
  viewCase('an event has the amount and the reference of its payment, and is found by the reference', ({ port }) => {
    port.add([
      sent(1, 7),
      routing(1, { webhooks: [7], amount: '12.50', reference: 'E1' }),
      routing(2, { reference: 'E2' }),
    ]);
    port.add([routing(3, { reference: 'E1', eventType: 'cash_out' }), routing(4, { accountId: 43, reference: 'E1' })]);
    expect(port.events(eventsQuery({ reference: 'E1' })).events).toMatchObject([
      { eventId: 'pay-3', amount: null, reference: 'E1' },
      { eventId: 'pay-1', amount: '12.50', reference: 'E1' },
    ]);
    expect(eventIds(port, { reference: 'E1', eventType: 'cash_out' })).toEqual(['pay-3']);
    expect(eventIds(port, { reference: 'E2', eventId: 'pay-2' })).toEqual(['pay-2']);
    expect(eventIds(port, { reference: 'E2', eventId: 'pay-1' })).toEqual([]);
    expect(eventIds(port, { reference: 'e1' })).toEqual([]);
    expect(feedIds(port, { reference: 'E1' })).toEqual(['pay-1', 'pay-3']);
  }),
  viewCase('of what many payments share, the newest 1,000 are searched', ({ port }) => {
    const all = Array.from({ length: 1_500 }, (_, n) =>
      routing(n, { reference: 'E1', payment: `payment-events/0/${n}` }),
    );
    port.add(all);
    port.add(all.map(({ payment, firstAt }) => entry(1, { eventId: 'shared', payment, firstAt })));
    const found = port.events(eventsQuery({ reference: 'E1' })).events;
    expect([found.length, found[0]?.eventId, found.at(-1)?.eventId]).toEqual([1_000, 'pay-1499', 'pay-500']);
    const publications = port.publications(ACCOUNT, entry(1).id).map(({ firstAt }) => firstAt - entry(0).firstAt);
    expect([publications.length, publications[0], publications.at(-1)]).toEqual([1_000, 1_499, 500]);
  }),
  viewCase('a page of events looks at a bounded number of them, and goes on behind them', ({ port }) => {
    port.add(Array.from({ length: 5_001 }, (_, n) => routing(n, { eventType: n === 0 ? 'cash_out' : 'cash_in' })));
    const found: string[] = [];
    let pages = 0;
    for (let before: EventsQuery['before'] = null; ; pages += 1) {
      const page = port.events(eventsQuery({ before, eventType: 'cash_out' }));
      found.push(...page.events.map(({ eventId }) => eventId));
      before = page.next;
      if (!before) break;
    }
    expect([found, pages]).toEqual([['pay-0'], 2]);
  }),
];
