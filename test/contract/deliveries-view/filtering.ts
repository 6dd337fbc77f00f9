/** What narrows the deliveries of an account, over all of its webhooks. */
import type { DeliveriesQuery } from '../../../src/ports/deliveries-view.js';
import { NOW } from '../../support/generators/delivery-samples.js';
import { attempt, entries, entry, type Of, query, WEBHOOK } from '../../support/scenes/deliveries-view-subject.js';
import { ids, idsOf, type ViewCase, viewCase, walked } from './view-case.js';

const ALL = { webhookId: null };

export const filtering: readonly ViewCase[] = [
  viewCase('those of all webhooks of an account are in one order, and of no other account', ({ port }) => {
    const webhooks = [WEBHOOK, 8, 90, 1];
    const of = (n: number) => ({ firstAt: NOW + (n >> 2), payment: `payment-events/0/${n + 100}@${NOW + (n >> 2)}` });
    port.add(entries(80).map((one, n) => ({ ...one, webhookId: webhooks[n % 4] ?? 0, ...of(n) })));
    port.add([entry(900, { accountId: 43 }), entry(901, { accountId: 43, webhookId: 8 })]);
    const all = idsOf(...entries(80).map((_, n) => 79 - n));
    for (const limit of [1, 7, 33, 80]) expect(walked(port, limit, undefined, ALL)).toEqual(all);
    expect(port.page(query({ ...ALL, limit: 1 })).deliveries).toMatchObject([{ webhookId: 1, firstAt: NOW + 19 }]);
    const [from, to] = [NOW + 2, NOW + 3];
    expect(ids(port, { ...ALL, from, to })).toEqual(idsOf(11, 10, 9, 8));
    expect(ids(port, { ...ALL, accountId: 44 })).toEqual([]);
  }),
  viewCase('only held ones, or only others, until they are sent again', ({ port }) => {
    const held = { outcome: 'exhausted', held: true, attempt: null } as const;
    port.add([entry(1, held), entry(2, { ...held, webhookId: 8 }), entry(3, held), entry(4, { outcome: 'exhausted' })]);
    port.add([entry(5, { ...held, attempt: attempt(5, { status: 503 }) }), entry(6, { ...held, eventId: 'pay' })]);
    port.add([entry(3, { outcome: 'retrying', attempt: null, chain: 3, attempts: 0 })]);
    const found = (only: Partial<Of<DeliveriesQuery>>) => ids(port, { ...ALL, ...only });
    expect(found({ held: true })).toEqual(idsOf(6, 5, 2, 1));
    expect(found({ held: true, outcome: 'exhausted' })).toEqual(idsOf(6, 5, 2, 1));
    expect(found({ held: false, outcome: 'exhausted' })).toEqual(idsOf(4));
    expect(found({ held: false })).toEqual(idsOf(4, 3));
    expect(found({ held: true, outcome: 'retrying' })).toEqual([]);
    expect(found({ held: true, status: '5xx' })).toEqual(idsOf(5));
    expect(found({ held: true, eventId: 'pay' })).toEqual(idsOf(6));
    expect(found({ held: false, eventId: 'pay' })).toEqual([]);
  }),
  viewCase('only one event, of any age, over all webhooks; an id that another account has as well', ({ port }) => {
    for (const n of [0, 5_000]) {
      port.add([entry(n, { eventId: 'pay' }), entry(n + 1, { eventId: 'pay', webhookId: 8 })]);
      port.add(entries(4_500).map((one, index) => ({ ...one, ...entry(n + 2 + index), eventId: `${n}-${index}` })));
    }
    port.add([entry(9_999, { eventId: 'pay', accountId: 43 })]);
    const of = { ...ALL, eventId: 'pay' };
    expect(ids(port, of)).toEqual(idsOf(5_001, 5_000, 1, 0));
    expect(walked(port, 1, undefined, of)).toEqual(idsOf(5_001, 5_000, 1, 0));
    expect(ids(port, { ...of, webhookId: 8 })).toEqual(idsOf(5_001, 1));
    expect(ids(port, { ...of, to: NOW + 5_000 })).toEqual(idsOf(1, 0));
    expect(ids(port, { ...of, from: NOW + 1 })).toEqual(idsOf(5_001, 5_000, 1));
    expect(ids(port, { ...of, accountId: 43 })).toEqual(idsOf(9_999));
    expect(ids(port, { ...of, eventId: 'other' })).toEqual([]);
  }),
  viewCase('only a status or an error, of the last attempt; behind the last match there is no page', ({ port }) => {
    const failed = (n: number, status: number | null, error: string | null = null) =>
      entry(n, { outcome: 'retrying', attempt: attempt(n, { status, error }) });
    port.add([failed(1, 503), failed(2, 404), failed(3, null, 'timeout'), failed(4, null, 'dns'), failed(5, 302)]);
    port.add([entry(6), entry(7, { outcome: 'retrying', attempt: null })]);
    port.add([entry(1, { attempts: 2, attempt: attempt(90) })]);
    const found = (only: Partial<Of<DeliveriesQuery>>) => ids(port, { ...ALL, ...only });
    expect(found({ status: '2xx' })).toEqual(idsOf(6, 1));
    expect(found({ status: '3xx' })).toEqual(idsOf(5));
    expect(port.page(query({ ...ALL, status: '3xx', limit: 1 })).next).toBeNull();
    expect(found({ status: '4xx' })).toEqual(idsOf(2));
    expect(found({ status: '5xx' })).toEqual([]);
    expect(found({ status: 'none' })).toEqual(idsOf(7, 4, 3));
    expect(found({ errors: ['timeout'] })).toEqual(idsOf(3));
    expect(found({ errors: ['dns', 'forbidden-address'] })).toEqual(idsOf(4));
    expect(found({ errors: [] })).toEqual([]);
  }),
];
