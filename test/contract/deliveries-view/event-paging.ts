/** One delivery, and everything that was published for an account. */
import { webhookMessageId } from '../../../src/payments/parsed-payment.js';
import type { EventsPage, EventsQuery, FeedPage, ListPlace, ViewEntry } from '../../../src/ports/deliveries-view.js';
import { ACCOUNT, NOW } from '../../support/generators/delivery-samples.js';
import {
  attempt,
  entry,
  eventsQuery,
  feedQuery,
  type Of,
  routing,
  WEBHOOK,
} from '../../support/scenes/deliveries-view-subject.js';
import { type ViewCase, type ViewSubject, viewCase } from './view-case.js';

const idOf = (n: number, webhookId = WEBHOOK) =>
  webhookMessageId(ACCOUNT, { eventId: `pay-${n}`, eventSource: null }, webhookId);

export const eventPaging: readonly ViewCase[] = [
  viewCase('a delivery has its trigger, actor, sealed responses, payment and routing', ({ port }) => {
    const failed = attempt(1, { status: 500, response: 'sealed' });
    const resent = attempt(9, { trigger: 'resend', actor: 'portal/ana' });
    const about = { chain: 4, step: 3, outcome: 'retrying', nextAttemptAt: '2026-11-21T10:00:00.000Z' } as const;
    port.add([entry(1, { outcome: 'retrying', attempt: failed })]);
    expect(port.publications(ACCOUNT, entry(1).id)[0]).toMatchObject({ routedAt: null, step: null, requests: 0 });
    port.add([entry(1, { ...about, attempts: 0, attempt: null }), entry(1, { ...about, attempt: resent }), routing(1)]);
    const { id, payment, webhookEvent } = entry(1);
    const known = { accountId: ACCOUNT, webhookId: WEBHOOK, eventId: 'pay-1', eventType: 'cash_in', firstAt: NOW + 1 };
    expect(port.publications(ACCOUNT, id)[0]).toEqual({
      ...{ ...known, id, payment, webhookEvent, step: 3, outcome: 'retrying', nextAttemptAt: about.nextAttemptAt },
      ...{
        waitingFor: null,
        held: false,
        endedBy: null,
        routedAt: NOW + 1,
        eventSource: null,
        requests: 1,
        sentAgain: false,
      },
      attempts: [failed, resent],
    });
    expect(port.publications(43, id)).toEqual([]);
    expect(port.publications(ACCOUNT, 'msg_other')).toEqual([]);
  }),
  viewCase('a delivery has the source of its event, from its routing or its entry', ({ port }) => {
    const sourceOf = (n: number) => port.publications(ACCOUNT, entry(n).id)[0]?.eventSource;
    port.add([
      entry(1, { eventSource: '/a\ud800' }),
      routing(2, { eventSource: '/b' }),
      entry(2, { eventSource: '/b' }),
    ]);
    expect([sourceOf(1), sourceOf(2)]).toEqual(['/a\ud800', '/b']);
  }),
  viewCase('a delivery that had ended is sent again from its request to its attempt or its end', ({ port }) => {
    const sentAgain = () => port.publications(ACCOUNT, entry(1).id)[0]?.sentAgain;
    const asked = (chain: number) => entry(1, { outcome: 'retrying', chain, attempts: 0, attempt: null });
    const steps: readonly [ViewEntry, boolean][] = [
      [entry(1, { outcome: 'exhausted' }), false],
      [asked(2), true],
      [entry(1, { outcome: 'cancelled', chain: 4, attempts: 0, attempt: null }), false],
      [asked(3), false],
      [asked(5), true],
      [entry(1, { outcome: 'exhausted', chain: 5, attempt: attempt(9, { status: 500 }) }), false],
      [entry(1, { chain: 7 }), false],
      [asked(7), false],
      [asked(9), true],
    ];
    for (const [one, expected] of steps) {
      port.add([one]);
      expect(sentAgain()).toBe(expected);
    }
  }),
  viewCase('requests are the chains that something but a cancellation tells of, each once', ({ port }) => {
    const of = (chain: number, outcome: ViewEntry['outcome'], attempts = 0) =>
      entry(1, { chain, outcome, attempts, attempt: null });
    port.add([of(9, 'retrying'), of(3, 'cancelled'), of(0, 'exhausted', 1), of(5, 'exhausted', 1), of(9, 'cancelled')]);
    port.add([of(9, 'retrying', 1), of(5, 'retrying'), of(3, 'cancelled')]);
    expect(port.publications(ACCOUNT, entry(1).id)).toMatchObject([{ requests: 2 }]);
  }),
  viewCase('an event shows what became of each of its deliveries, and those of which nothing is known', ({ port }) => {
    port.add([
      routing(1, { webhooks: [9, 7, 8] }),
      entry(1, { id: idOf(1, 8), webhookId: 8, outcome: 'exhausted', held: true }),
      entry(1, { id: idOf(1), outcome: 'retrying' }),
    ]);
    const { payment } = entry(1);
    const about = { eventId: 'pay-1', eventType: 'cash_in', arrived: 'nowhere', amount: null, reference: null };
    const { timestamp: routedAt } = routing(1).place;
    const event = { firstAt: NOW + 1, payment, routedAt, eventSource: null, ...about };
    const sentTo = [
      { webhookId: 7, deliveryId: idOf(1), outcome: 'retrying', held: false },
      { webhookId: 8, deliveryId: idOf(1, 8), outcome: 'exhausted', held: true },
      { webhookId: 9, deliveryId: null, outcome: null, held: false },
    ];
    expect(port.events(eventsQuery())).toEqual({ events: [{ ...event, sentTo }], next: null, completeSince: null });
    expect(port.events(eventsQuery({ accountId: 43 }))).toEqual({ events: [], next: null, completeSince: null });
  }),
  viewCase('an event is shown once, with the webhooks of all of its routings, and without any', ({ port }) => {
    port.add([routing(1, { webhooks: [7] }), routing(2, { webhooks: [] })]);
    port.add([routing(1, { webhooks: [8] }), routing(2, { webhooks: [] })]);
    const sent = port.events(eventsQuery()).events.map(({ sentTo }) => sentTo.map(({ webhookId }) => webhookId));
    expect(sent).toEqual([[], [7, 8]]);
  }),
  viewCase('pages of events of any size give each once, newest first', ({ port }) => {
    port.add(Array.from({ length: 30 }, (_, n) => routing(n, { firstAt: NOW + (n >> 2) })));
    const all = eventIds({ port });
    expect(new Set(all).size).toBe(30);
    for (const limit of [1, 4, 7, 30]) {
      expect(walked({ port }, limit)).toEqual(all);
    }
  }),
  viewCase('events are narrowed by type, id and time', ({ port }) => {
    port.add(Array.from({ length: 9 }, (_, n) => routing(n)));
    port.add([routing(20, { eventType: 'cash_out' }), routing(21, { eventId: 'pay-3' })]);
    expect(eventIds({ port }, { eventType: 'cash_out' })).toEqual(['pay-20']);
    expect(eventIds({ port }, { from: NOW + 3, to: NOW + 5 })).toEqual(['pay-4', 'pay-3']);
    const { events } = port.events(eventsQuery({ eventId: 'pay-3' }));
    expect(events.map(({ firstAt }) => firstAt)).toEqual([NOW + 21, NOW + 3]);
    const [newest] = events;
    expect(eventIds({ port }, { eventId: 'pay-3', before: newest ? { ...newest, tie: '' } : null })).toEqual(['pay-3']);
  }),
  viewCase('the feed gives every event once, in the order of each partition, whenever its payment was', ({ port }) => {
    const late = routing(3, { firstAt: NOW - 9_000, place: placeIn(1, 7) });
    port.add([routing(1), routing(2), late]);
    const first = port.feed(feedQuery({ limit: 2 }));
    expect([idsIn(first), first.more]).toEqual([['pay-1', 'pay-2'], true]);
    port.add([routing(4), routing(5, { firstAt: NOW - 5_000, place: placeIn(1, 8), index: 1 })]);
    const second = port.feed(feedQuery({ after: first.next }));
    expect([idsIn(second).toSorted(), second.more]).toEqual([['pay-3', 'pay-4', 'pay-5'], false]);
    const third = port.feed(feedQuery({ after: second.next }));
    expect([idsIn(third), [...third.next]]).toEqual([[], [...second.next]]);
  }),
  viewCase('the feed goes on behind each of its events, and no position goes back', ({ port }) => {
    port.add([...Array.from({ length: 6 }, (_, n) => routing(n)), routing(7, { place: placeIn(1, 3) })]);
    const { events } = port.feed(feedQuery());
    events.forEach(({ position }, at) => {
      expect(idsIn(port.feed(feedQuery({ after: position })))).toEqual(idsIn({ events: events.slice(at + 1) }));
    });
    const ahead = new Map([[0, { offset: 900, index: 0 }]]);
    expect([...port.feed(feedQuery({ after: ahead })).next]).toEqual([
      [0, { offset: 900, index: 0 }],
      [1, { offset: 3, index: 0 }],
    ]);
  }),
  viewCase('an event is forgotten with its deliveries, and kept as long as one of them', ({ port }) => {
    port.add([
      routing(1),
      entry(1, { attempt: attempt(1, { response: 'sealed' }) }),
      routing(2),
      entry(2, { place: entry(900).place }),
    ]);
    for (let round = 0; round < 3; round += 1) port.forget(NOW + 500);
    expect([eventIds({ port }), idsIn(port.feed(feedQuery()))]).toEqual([['pay-2'], ['pay-2']]);
    expect(port.publications(ACCOUNT, entry(1).id)).toEqual([]);
    port.add([entry(1)]);
    expect(port.publications(ACCOUNT, entry(1).id)[0]?.attempts).toEqual([attempt(1)]);
  }),
];

function idsIn({ events }: Pick<FeedPage, 'events'>): string[] {
  return events.map(({ eventId }) => eventId);
}

function placeIn(partition: number, offset: number) {
  return { ...entry(offset).place, partition };
}

function eventIds({ port }: Pick<ViewSubject, 'port'>, changes: Partial<Of<EventsQuery>> = {}): string[] {
  return port.events(eventsQuery(changes)).events.map(({ eventId }) => eventId);
}

function walked({ port }: Pick<ViewSubject, 'port'>, limit: number): string[] {
  const all: string[] = [];
  let place: ListPlace | null = null;
  do {
    const page: EventsPage = port.events(eventsQuery({ limit, before: place }));
    all.push(...page.events.map(({ eventId }) => eventId));
    place = page.next;
  } while (place);
  return all;
}
