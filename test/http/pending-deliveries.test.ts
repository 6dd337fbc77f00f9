/** GET, cancel and resend of deliveries that the list of events shows before their first attempt. */
import type { EventsQuery, ViewedDelivery, ViewedEvent } from '../../src/ports/deliveries-view.js';
import type { Publications, Sendable } from '../../src/ports/send-again.js';
import type { Client } from '../support/clients/api-client.js';
import { NOW } from '../support/generators/delivery-samples.js';
import { viewOf } from '../support/scenes/account-view.js';
import { type BareApi, startBareApi } from '../support/scenes/bare-api.js';
import { detail } from '../support/scenes/recoverable-view.js';

/** Of 200 events: 20,000, more than a dispatcher holds. */
const MAX_PAGES = 100;

/** Published n seconds after NOW, and routed to webhooks 1 and 2, of which nothing more is known. */
function pendingEvent(n: number, eventId = `pay-${n}`): ViewedEvent {
  const { firstAt, payment, routedAt } = detail(n);
  const none = { deliveryId: null, outcome: null, held: false };
  return {
    ...{ firstAt, payment, routedAt, eventId, eventSource: null, eventType: 'cash_in' },
    ...{ arrived: 'nowhere', amount: null, reference: null },
    sentTo: [1, 2].map((webhookId) => ({ webhookId, ...none })),
  };
}

let api: BareApi;
let client: Client;
let events: ViewedEvent[];
let stored: ViewedDelivery[];
let asked: EventsQuery[];
let cancelled: Publications[];
let resent: Sendable[];

const NO_MORE = { next: null, completeSince: null };

/** Pages of one event, or one page of the event that is asked for. */
function answerEvents(query: EventsQuery) {
  asked.push(query);
  if (query.eventId !== null) return { ...NO_MORE, events: events.filter(({ eventId }) => eventId === query.eventId) };
  const place = ({ firstAt, payment }: ViewedEvent) => ({ firstAt, payment, tie: '' });
  const left = events.filter(({ firstAt }) => firstAt < (query.before?.firstAt ?? Number.MAX_SAFE_INTEGER));
  const [first] = left;
  return { ...NO_MORE, events: first ? [first] : [], next: first && left.length > 1 ? place(first) : null };
}

beforeEach(async () => {
  [events, stored, asked, cancelled, resent] = [[], [], [], [], []];
  const publications = (id: string) => stored.filter((one) => one.id === id);
  api = await startBareApi({
    parts: {
      view: viewOf({ events: answerEvents, publications }),
      cancel: async (all) => {
        cancelled.push(all);
        return { kind: 'accepted' };
      },
      sendAgain: async (one) => {
        resent.push(one);
        return { kind: 'accepted' };
      },
      payloads: { record: async () => null, keptUntil: async () => null, firstKept: async () => ({}) },
      now: () => new Date(NOW),
    },
  });
  client = api.client();
  for (const n of [1, 2]) await client.post({ url: `https://shop.example.com/${n}`, eventType: 'cash_in' });
});
afterEach(() => api.close());

interface Listed {
  readonly events: readonly { readonly sentTo: readonly { readonly deliveryId: string }[] }[];
}
interface Shown {
  readonly delivery: Readonly<Record<string, unknown>>;
}

/** The id that GET /api/events shows for a webhook of the newest event. */
async function listedId(webhookId: number): Promise<string> {
  const { body } = await client.send<Listed>('GET', '/api/events');
  return body.events[0]?.sentTo[webhookId - 1]?.deliveryId ?? '';
}
const get = (id: string) => client.send<Shown>('GET', `/api/deliveries/${id}`);

describe('a delivery without an attempt', () => {
  it('is shown as waiting, though other pending events are newer', async () => {
    events = [pendingEvent(2), pendingEvent(1)];
    const id = await listedId(2);
    events = [pendingEvent(4), pendingEvent(3), pendingEvent(2)];
    asked = [];
    const { status, body } = await get(id);
    expect(status).toBe(200);
    expect(body.delivery).toMatchObject({
      ...{ id, webhookId: 2, eventId: 'pay-2', eventType: 'cash_in', outcome: 'retrying', waitingFor: 'queue' },
      ...{ attempts: [], nextAttemptAt: null, endedBy: null, routedAt: new Date(NOW + 2_000).toISOString() },
    });
    expect(asked.map(({ arrived, eventId }) => [arrived, eventId])).toEqual([
      ...Array.from({ length: 3 }, () => ['pending', null]),
      ['pending', 'pay-2'],
    ]);
  });

  it('is cancelled and resent by the id of the list', async () => {
    events = [pendingEvent(1)];
    const id = await listedId(1);
    const { body, status } = await client.send<object>('POST', `/api/deliveries/${id}/cancel`);
    expect([status, body]).toEqual([202, expect.objectContaining({ count: 1 })]);
    const [{ addedBy } = { addedBy: '' }] = (await api.readModel.accounts.webhooks(42))?.webhooks ?? [];
    const { payment } = pendingEvent(1);
    expect(cancelled).toMatchObject([[{ id, accountId: 42, webhookId: 1, webhookEvent: addedBy, payment }]]);
    expect((await client.send('POST', `/api/deliveries/${id}/resend`)).status).toBe(202);
    expect(resent).toMatchObject([{ id, payment, outcome: 'retrying', step: null }]);
  });

  it('is one of the publications of its event, newest first, and is shown once if it is stored meanwhile', async () => {
    events = [pendingEvent(2, 'pay-1')];
    const id = await listedId(1);
    const { payment } = pendingEvent(2);
    stored = [detail(1, { id, eventId: 'pay-1', outcome: 'delivered' })];
    const outcomes = async () =>
      ((await get(id)).body.delivery.publications as { outcome: string }[] | undefined)?.map(({ outcome }) => outcome);
    expect(await outcomes()).toEqual(['retrying', 'delivered']);
    stored.push(detail(2, { id, eventId: 'pay-1', payment, outcome: 'exhausted' }));
    expect(await outcomes()).toEqual(['exhausted', 'delivered']);
  });

  it('has ended if its webhook was removed; cancelling it is recorded, because a dispatcher may lag on the removal', async () => {
    events = [pendingEvent(1)];
    const id = await listedId(2);
    await client.remove(2);
    expect((await get(id)).body.delivery).toMatchObject({ outcome: 'cancelled', endedBy: 'webhook-removed' });
    const { status, body } = await client.send<object>('POST', `/api/deliveries/${id}/cancel`);
    expect([status, body]).toEqual([202, expect.objectContaining({ count: 0 })]);
    expect(cancelled).toMatchObject([[{ id, webhookId: 2, payment: pendingEvent(1).payment }]]);
  });

  it('is searched for among the publications of its event alone, if one of them is stored', async () => {
    events = [3, 2, 1].map((n) => pendingEvent(n));
    const id = await listedId(1);
    stored = [detail(0, { id, eventId: 'pay-3', outcome: 'delivered' })];
    asked = [];
    const { body } = await get(id);
    expect(body.delivery.publications).toHaveLength(2);
    expect(asked.map(({ eventId }) => eventId)).toEqual(['pay-3']);
  });

  it('is searched for in a bounded number of pages: beyond them nobody knows, so the answer is not a 404', async () => {
    events = [pendingEvent(0)];
    const id = await listedId(1);
    events = Array.from({ length: MAX_PAGES + 1 }, (_, n) => pendingEvent(MAX_PAGES - n));
    asked = [];
    const { status, headers } = await get(id);
    expect([status, headers.get('retry-after')]).toEqual([503, '1']);
    expect(asked).toHaveLength(MAX_PAGES);
    events = events.slice(1);
    expect((await get(id)).status).toBe(200);
    events = events.filter(({ eventId }) => eventId !== 'pay-0');
    expect((await get(id)).status).toBe(404);
  });

  it('is unknown to another account', async () => {
    events = [pendingEvent(1)];
    const id = await listedId(1);
    expect((await api.client(43).send('GET', `/api/deliveries/${id}`)).status).toBe(404);
  });
});
