/** GET /api/events: what the view and the topics are asked, and what is made of it. */
import type { VerifyToken } from '../../src/accounts/access-tokens.js';
import { createPublishedPayloads } from '../../src/delivery/record-place.js';
import { webhookMessageId } from '../../src/payments/parsed-payment.js';
import { BrokerUnavailable, type ReceivedRecord } from '../../src/ports/broker.js';
import type { EventsQuery, FeedQuery, ViewedEvent } from '../../src/ports/deliveries-view.js';
import type { Right } from '../../src/webhooks/limits.js';
import type { PortalSession } from '../../src/webhooks/state.js';
import type { Answer } from '../support/clients/api-client.js';
import { eventually } from '../support/clocks/eventually.js';
import { viewOf } from '../support/scenes/account-view.js';
import { type BareApi, type BareOptions, startBareApi } from '../support/scenes/bare-api.js';

const AT = Date.parse('2026-11-21T09:00:00.000Z');
const EVENT: ViewedEvent = {
  ...{ firstAt: AT, payment: `payment-events/0/1@${AT}`, eventId: 'pay-1', eventSource: null, eventType: 'cash_in' },
  ...{ routedAt: AT, arrived: 'all', amount: '12.50', reference: 'E1' },
  sentTo: [
    { webhookId: 7, deliveryId: 'msg_a', outcome: 'delivered', held: false },
    { webhookId: 8, deliveryId: null, outcome: null, held: false },
  ],
};

interface Page {
  readonly events: readonly Readonly<Record<string, unknown>>[];
  readonly next: string | null;
  readonly more: boolean;
  readonly errors?: readonly { readonly field: string }[];
}

const LAST = { next: null, completeSince: null };

const ALL = {
  ...{ limit: 50, eventType: null, eventId: null, from: null, to: null },
  ...{ arrived: null, webhookIds: null, status: null, errors: null, reference: null },
};

let api: BareApi | undefined;
afterEach(() => api?.close());

const record = (value: string, timestamp = AT): ReceivedRecord => {
  const place = { topic: 'payment-events', partition: 0, offset: 1, timestamp };
  return { ...place, key: null, value: Buffer.from(value), headers: [] };
};

async function start(
  view: Parameters<typeof viewOf>[0],
  read: () => Promise<ReceivedRecord | null> = async () => record('{}'),
  parts: BareOptions['parts'] = {},
) {
  const topics = { topics: ['payment-events'], keptMs: async () => null, impossible: () => undefined };
  const broker = { read, extent: async () => new Map([[0, { first: 0, next: 9 }]]), listTopics: async () => [] };
  const payloads = createPublishedPayloads(broker, topics);
  api = await startBareApi({ parts: { view: viewOf(view), payloads, ...parts } });
}

/** Of a session with these rights. */
function verifyTokenOf(...can: Right[]): VerifyToken {
  const session = { id: 'ps_0000000000000000', until: '9999-01-01T00:00:00.000Z', can } as unknown as PortalSession;
  return async () => ({ kind: 'verified', caller: { accountId: 42, actor: 'ana', clientId: null, session } });
}

function get(query = '', caller = 42): Promise<Answer<Page>> {
  if (!api) throw new Error('nothing is started');
  return api.client(caller).send('GET', `/api/events${query}`);
}

const position = (offset: number, partition = 0) => new Map([[partition, { offset, index: 0 }]]);

it('at most four pages of a user are in memory: those that wait have not asked the view yet', async () => {
  let pages = 0;
  const events = () => {
    pages += 1;
    return { events: [EVENT], ...LAST };
  };
  let goOn: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  await start({ events }, () => held.then(() => record('{}')));
  const all = Array.from({ length: 10 }, () => get());
  await eventually(async () => pages === 4);
  // Those that wait had their chance before another account's answer.
  expect([(await get('', 7)).status, pages]).toEqual([404, 4]);
  goOn();
  const answered = (await Promise.all(all)).filter(({ status }) => status === 200);
  expect(answered.length).toBeGreaterThanOrEqual(4);
});

describe('newest first', () => {
  it('shows each event with its payload and what it was sent to', async () => {
    const read: unknown[][] = [];
    await start({ events: () => ({ events: [EVENT], ...LAST }) }, async (...place: unknown[]) => {
      read.push(place);
      return record('{"id":"pay-1"}');
    });
    const { firstAt: _, payment: __, eventSource: ___, routedAt: ____, ...shown } = EVENT;
    const sentTo = [EVENT.sentTo[0], { ...EVENT.sentTo[1], deliveryId: webhookMessageId(42, EVENT, 8) }];
    const event = {
      ...shown,
      sentTo,
      cursor: expect.any(String),
      publishedAt: new Date(AT).toISOString(),
      notSent: null,
    };
    const body = { events: [{ ...event, payload: '{"id":"pay-1"}' }], next: null, more: false };
    expect(await get()).toMatchObject({ status: 200, body });
    expect(read).toEqual([['payment-events', 0, 1]]);
  });

  it('is listed without a payload if its log entry names a topic that does not exist, beside others', async () => {
    const forged = { ...EVENT, payment: `no such topic/0/1@${AT}` };
    const events = () => ({ events: [forged, EVENT], ...LAST });
    const unavailable = async (topic?: string) => {
      if (topic !== 'payment-events') throw new BrokerUnavailable('the topic is invalid');
      return record('{}');
    };
    await start({ events }, unavailable as () => Promise<ReceivedRecord | null>);
    const { status, body } = await get();
    expect([status, body.events.map(({ payload }) => payload)]).toEqual([200, [null, '{}']]);
  });

  it('goes on before the cursor of any event, and before next', async () => {
    const asked: EventsQuery[] = [];
    const next = { firstAt: AT - 5, payment: `payment-events/0/9@${AT - 5}`, tie: '' };
    const events = (query: EventsQuery) => {
      asked.push(query);
      return { events: [EVENT], next, completeSince: null };
    };
    await start({ events });
    const { body } = await get('?limit=1&eventType=cash_in&eventId=pay-1&from=2026-11-01&to=2026-11-30');
    expect(body.more).toBe(true);
    for (const cursor of [body.next, body.events[0]?.cursor]) await get(`?before=${cursor}`);
    const period = { from: Date.parse('2026-11-01'), to: Date.parse('2026-11-30') };
    expect(asked).toEqual([
      { ...ALL, limit: 1, eventType: 'cash_in', eventId: 'pay-1', ...period, before: null },
      { ...ALL, before: next },
      { ...ALL, before: { firstAt: EVENT.firstAt, payment: EVENT.payment, tie: '' } },
    ]);
  });

  it.each([
    ['no-webhook', []],
    ['held', [{ ...EVENT.sentTo[0], held: true }]],
    [null, [...EVENT.sentTo, { ...EVENT.sentTo[0], held: true }]],
    [null, [{ ...EVENT.sentTo[0], outcome: null }]],
  ])('says %s where it was sent to nobody for that reason', async (notSent, sentTo) => {
    await start({ events: () => ({ events: [{ ...EVENT, sentTo } as ViewedEvent], ...LAST }) });
    expect((await get()).body.events).toMatchObject([{ notSent }]);
  });
});

describe('a payload', () => {
  it.each([
    ['is gone', null],
    ['is of a topic that was made anew', record('{}', AT + 1)],
  ])('is null where it %s', async (_, found) => {
    await start({ events: () => ({ events: [EVENT], ...LAST }) }, async () => found);
    expect((await get()).body.events).toMatchObject([{ payload: null, eventId: 'pay-1' }]);
  });

  it('that the broker can not be asked for is 503: the event is not shown as one that lost it', async () => {
    await start({ events: () => ({ events: [EVENT], ...LAST }) }, () => Promise.reject(new BrokerUnavailable('away')));
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
    await start({ feed: () => ({ events, next: position(49), more: false, completeSince: null }) }, read);
    const { body } = await get('?after=start');
    expect([body.events.length, body.more, most]).toEqual([8, true, 8]);
    expect(body.next).toBe(body.events.at(-1)?.cursor);
  });
});

describe('as a feed', () => {
  it('goes on after each of its cursors, and after next, which is never null', async () => {
    const asked: FeedQuery[] = [];
    const next = new Map([...position(35, 1), ...position(1_000_000, 11)]);
    await start({
      feed: (query) => {
        asked.push(query);
        return { events: [{ ...EVENT, position: position(35, 1) }], next, more: true, completeSince: null };
      },
    });
    const { body } = await get('?after=start');
    expect(body).toMatchObject({ more: true, events: [{ eventId: 'pay-1' }] });
    for (const cursor of [body.next, body.events[0]?.cursor]) await get(`?after=${cursor}`);
    expect(asked.map(({ after }) => after)).toEqual([new Map(), next, position(35, 1)]);
  });

  it('without anything so far gives a next to poll with', async () => {
    await start({ feed: ({ after }) => ({ events: [], next: after, more: false, completeSince: null }) });
    const { next } = (await get('?after=start')).body;
    expect(next).not.toBeNull();
    expect((await get(`?after=${next}`)).body).toEqual({ events: [], next, more: false, completeSince: null });
  });
});

const cursor = (json: unknown) => Buffer.from(JSON.stringify(json)).toString('base64url');
const time = cursor([1, 'payment-events/0/1@1']);
const log = cursor({ after: [[0, 5, 0]] });
/** More than a topic of deliveries has. */
const many = cursor({ after: Array.from({ length: 257 }, (_, partition) => [partition, 0, 0]) });
const largest = Number.MAX_SAFE_INTEGER;
const longest = { after: Array.from({ length: 256 }, (_, partition) => [partition, largest, largest]) };
const tooLong = Buffer.from(`${JSON.stringify(longest)} `).toString('base64url');

it('a cursor may be as long as that of 256 partitions, and no longer', async () => {
  await start({ feed: ({ after }) => ({ events: [], next: after, more: false, completeSince: null }) });
  expect((await get(`?after=${cursor(longest)}`)).status).toBe(200);
  const { status, body } = await get(`?after=${tooLong}`);
  expect([status, body.errors?.map(({ field }) => field)]).toEqual([400, ['after']]);
});

it.each([
  ...[`before=${log}`, 'before=start', `after=${time}`, `after=${log}%00`, `after=${cursor({ after: [[0, 5]] })}`],
  `after=${many}`,
  `after=${log}&before=${time}`,
])('%s is 400 and named', async (query) => {
  await start({});
  const { status, body } = await get(`?${query}`);
  expect([status, body.errors?.map(({ field }) => field)]).toEqual([400, [/^\w+/.exec(query)?.[0]]]);
});

describe('a filter', () => {
  const asked: EventsQuery[] = [];
  const events = (query: EventsQuery) => {
    asked.push(query);
    return { events: [EVENT], next: null, completeSince: AT };
  };
  beforeEach(() => {
    asked.length = 0;
  });

  it.each([
    ['arrived=nowhere', { arrived: 'nowhere' }],
    ['webhookId=7', { webhookIds: [7] }],
    ['status=none&error=timeout', { status: 'none', errors: ['timeout'] }],
    ['error=host', { errors: ['dns', 'forbidden-address'] }],
    ['reference=E%201', { reference: 'E 1' }],
  ])('%s is asked of the view, of pages and of the feed', async (query, expected) => {
    const feed = ({ after: _, ...filter }: FeedQuery) => {
      const { events: found, completeSince } = events({ ...filter, before: null });
      return { events: found.map((event) => ({ ...event, position: position(1) })), ...END, completeSince };
    };
    await start({ events, feed });
    for (const more of ['', '&after=start']) expect((await get(`?${query}${more}`)).status).toBe(200);
    expect(asked).toEqual([1, 2].map(() => ({ ...ALL, ...expected, before: null })));
  });

  it('url names the webhooks that have it, however it is spelled', async () => {
    await start({ events });
    const [a, b] = ['https://a.example.com/', 'https://b.example.com/'];
    const client = api?.client();
    await client?.post({ url: a, eventTypes: ['cash_in', 'cash_out', 'refund_in'] });
    await client?.post({ url: b, eventType: 'cash_in' });
    await client?.patch(2, { url: b });
    for (const url of ['HTTPS://A.Example.com', 'https://b.example.com:443/', 'https://c.example.com/']) {
      await get(`?url=${encodeURIComponent(url)}`);
      await get(`?url=${encodeURIComponent(url)}&webhookId=3`);
    }
    expect(asked.map(({ webhookIds }) => webhookIds)).toEqual([[1, 3], [3], [2, 4], [], [], []]);
  });

  it('reference is refused without the right to payloads, and amount and reference are not shown', async () => {
    await start({ events }, undefined, { verifyToken: verifyTokenOf('read') });
    expect((await get('?reference=E1')).status).toBe(403);
    expect(asked).toEqual([]);
    expect((await get('?arrived=all')).body.events).toMatchObject([{ payload: null, amount: null, reference: null }]);
    await api?.close();
    await start({ events }, undefined, { verifyToken: verifyTokenOf('read', 'payloads') });
    expect((await get('?reference=E1')).body.events).toMatchObject([
      { payload: '{}', amount: '12.50', reference: 'E1' },
    ]);
  });

  it('finds what the view has; the page says since when that is complete', async () => {
    await start({ events });
    expect((await get('?arrived=all')).body).toMatchObject({ completeSince: '2026-11-21T09:00:00.000Z' });
  });
});

const END = { next: new Map(), more: false };
