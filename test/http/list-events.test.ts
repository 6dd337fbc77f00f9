/** GET /api/events: what the view and the topics are asked, and what is made of it. */
import { setImmediate as immediate } from 'node:timers/promises';
import { createPublishedPayloads } from '../../src/delivery/record-place.js';
import { BrokerUnavailable, type ReceivedRecord } from '../../src/ports/broker.js';
import type { EventsQuery, FeedQuery, OfAccount, ViewedEvent } from '../../src/ports/deliveries-view.js';
import { viewOf } from '../support/account-view.js';
import { type BareApi, startBareApi } from '../support/bare-api.js';

const AT = Date.parse('2026-11-21T09:00:00.000Z');
const EVENT: ViewedEvent = {
  ...{ firstAt: AT, payment: `payment-events/0/1@${AT}`, eventId: 'pay-1', eventType: 'cash_in' },
  sentTo: [{ webhookId: 7, deliveryId: 'msg_a', outcome: 'delivered', held: false }],
};

interface Page {
  readonly events: readonly Readonly<Record<string, unknown>>[];
  readonly next: string | null;
  readonly more: boolean;
  readonly errors?: readonly { readonly field: string }[];
}

let api: BareApi | undefined;
afterEach(() => api?.close());

const record = (value: string, timestamp = AT): ReceivedRecord => {
  const place = { topic: 'payment-events', partition: 0, offset: 1, timestamp };
  return { ...place, key: null, value: Buffer.from(value), headers: [] };
};

async function start(
  view: Parameters<typeof viewOf>[0],
  read: () => Promise<ReceivedRecord | null> = async () => record('{}'),
) {
  const payloads = createPublishedPayloads({ read }, async () => null);
  api = await startBareApi({ parts: { view: viewOf(view), payloads } });
}

async function get(query = '', caller = 42): Promise<{ status: number; body: Page }> {
  const response = await fetch(`${api?.url}/api/events${query}`, {
    headers: { authorization: `Bearer caller-${caller}` },
  });
  return { status: response.status, body: (await response.json()) as Page };
}

const position = (offset: number, partition = 0) => new Map([[partition, { offset, index: 0 }]]);

it('of an account one page is in memory at a time: those that wait have not asked the view yet', async () => {
  let [pages, most] = [0, 0];
  const events = () => {
    pages += 1;
    most = Math.max(most, pages);
    return { events: [EVENT], next: null };
  };
  await start({ events }, async () => {
    await immediate();
    pages -= 1;
    return record('{}');
  });
  const all = await Promise.all(Array.from({ length: 5 }, () => get()));
  expect([all.map(({ status }) => status), most]).toEqual([[200, 200, 200, 200, 200], 1]);
});

describe('newest first', () => {
  it('shows each event with its payload and what it was sent to', async () => {
    const read: unknown[][] = [];
    await start({ events: () => ({ events: [EVENT], next: null }) }, async (...place: unknown[]) => {
      read.push(place);
      return record('{"id":"pay-1"}');
    });
    expect(await get()).toMatchObject({
      status: 200,
      body: {
        events: [
          {
            cursor: expect.any(String),
            ...{ eventId: 'pay-1', eventType: 'cash_in', publishedAt: '2026-11-21T09:00:00.000Z' },
            payload: '{"id":"pay-1"}',
            sentTo: [{ webhookId: 7, deliveryId: 'msg_a', outcome: 'delivered', held: false }],
            notSent: null,
          },
        ],
        next: null,
        more: false,
      },
    });
    expect(read).toEqual([['payment-events', 0, 1]]);
  });

  it('goes on before the cursor of any event, and before next', async () => {
    const asked: EventsQuery[] = [];
    const next = { firstAt: AT - 5, payment: `payment-events/0/9@${AT - 5}` };
    const events = (query: EventsQuery) => {
      asked.push(query);
      return { events: [EVENT], next };
    };
    await start({ events });
    const { body } = await get('?limit=1&eventType=cash_in&eventId=pay-1&from=2026-11-01&to=2026-11-30');
    expect(body.more).toBe(true);
    for (const cursor of [body.next, body.events[0]?.cursor]) await get(`?before=${cursor}`);
    const all = { limit: 50, eventType: null, eventId: null, from: null, to: null };
    const period = { from: Date.parse('2026-11-01'), to: Date.parse('2026-11-30') };
    expect(asked).toEqual([
      { ...all, limit: 1, eventType: 'cash_in', eventId: 'pay-1', ...period, before: null },
      { ...all, before: next },
      { ...all, before: { firstAt: EVENT.firstAt, payment: EVENT.payment } },
    ]);
  });

  it.each([
    ['no-webhook', []],
    ['held', [{ ...EVENT.sentTo[0], held: true }]],
    [null, [...EVENT.sentTo, { ...EVENT.sentTo[0], held: true }]],
    [null, [{ ...EVENT.sentTo[0], outcome: null }]],
  ])('says %s where it was sent to nobody for that reason', async (notSent, sentTo) => {
    await start({ events: () => ({ events: [{ ...EVENT, sentTo } as ViewedEvent], next: null }) });
    expect((await get()).body.events).toMatchObject([{ notSent }]);
  });
});

describe('a payload', () => {
  it.each([
    ['is gone', null],
    ['is of a topic that was made anew', record('{}', AT + 1)],
  ])('is null where it %s', async (_, found) => {
    await start({ events: () => ({ events: [EVENT], next: null }) }, async () => found);
    expect((await get()).body.events).toMatchObject([{ payload: null, eventId: 'pay-1' }]);
  });

  it('that the broker can not be asked for is 503: the event is not shown as one that lost it', async () => {
    await start({ events: () => ({ events: [EVENT], next: null }) }, () =>
      Promise.reject(new BrokerUnavailable('away')),
    );
    expect((await get()).status).toBe(503);
  });

  it('of many large ones ends the page early, and its next leads to the others', async () => {
    const large = 'x'.repeat(256 * 1024);
    let [open, most] = [0, 0];
    const read = async () => {
      open += 1;
      most = Math.max(most, open);
      await Promise.resolve();
      open -= 1;
      return record(large);
    };
    const events = Array.from({ length: 50 }, (_, index) => ({
      ...EVENT,
      eventId: `pay-${index}`,
      position: position(index),
    }));
    await start({ feed: () => ({ events, next: position(49), more: false }) }, read);
    const { body } = await get('?after=start');
    expect([body.events.length, body.more, most]).toEqual([8, true, 8]);
    expect(body.next).toBe(body.events.at(-1)?.cursor);
  });
});

it('payloads of one page of an account are read at a time', async () => {
  let [open, most] = [0, 0];
  const read = async () => {
    open += 1;
    most = Math.max(most, open);
    await new Promise((resolve) => setImmediate(resolve));
    open -= 1;
    return record('{}');
  };
  const events = Array.from({ length: 8 }, () => EVENT);
  await start({ events: () => ({ events, next: null }) }, read);
  const answers = await Promise.all(Array.from({ length: 10 }, () => get()));
  expect(answers.map(({ body }) => body.events.length)).toEqual(Array(10).fill(8));
  expect(most).toBe(8);
});

describe('as a feed', () => {
  it('goes on after each of its cursors, and after next, which is never null', async () => {
    const asked: OfAccount<FeedQuery>[] = [];
    const next = new Map([...position(35, 1), ...position(1_000_000, 11)]);
    await start({
      feed: (query) => {
        asked.push(query);
        return { events: [{ ...EVENT, position: position(35, 1) }], next, more: true };
      },
    });
    const { body } = await get('?after=start');
    expect(body).toMatchObject({ more: true, events: [{ eventId: 'pay-1' }] });
    for (const cursor of [body.next, body.events[0]?.cursor]) await get(`?after=${cursor}`);
    expect(asked.map(({ after }) => after)).toEqual([new Map(), next, position(35, 1)]);
  });

  it('without anything so far gives a next to poll with', async () => {
    await start({ feed: ({ after }) => ({ events: [], next: after, more: false }) });
    const { next } = (await get('?after=start')).body;
    expect(next).not.toBeNull();
    expect((await get(`?after=${next}`)).body).toEqual({ events: [], next, more: false });
  });
});

const time = Buffer.from('t1.payment-events/0/1@1').toString('base64url');
const log = Buffer.from('f0:5.0').toString('base64url');

it.each([
  ...[`before=${log}`, 'before=start', 'before=', 'before=x'],
  ...[`after=${time}`, 'after=', 'after=x', `after=${log}%00`, `after=${Buffer.from('f0:5').toString('base64url')}`],
  ...['limit=0', 'limit=201', 'eventType=x', 'eventId=a&eventId=b', 'from=x', 'to=x', `after=${log}&before=${time}`],
])('%s is 400 and named', async (query) => {
  await start({});
  const { status, body } = await get(`?${query}`);
  expect([status, body.errors?.map(({ field }) => field)]).toEqual([400, [/^\w+/.exec(query)?.[0]]]);
});

it('an account that is not known is 404, and each is asked for under its own id', async () => {
  const asked: number[] = [];
  await start((accountId) => {
    asked.push(accountId);
    return { events: () => ({ events: [], next: null }) };
  });
  expect([(await get('', 7)).status, (await get()).status, asked]).toEqual([404, 200, [42]]);
});
