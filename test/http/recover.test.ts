/** The calls that send again: their answers. What they refuse by status alone is in documented-refusals.test.ts. */
import { Admission } from '../../src/http/admission.js';
import type { FirstKept, ViewedDelivery } from '../../src/ports/deliveries-view.js';
import type { SendAgainRequest, SentAgain } from '../../src/ports/send-again.js';
import { NO_BUDGET } from '../../src/webhooks/account-buckets.js';
import type { Answer, Client } from '../support/clients/api-client.js';
import { eventually } from '../support/clocks/eventually.js';
import { NOW } from '../support/generators/delivery-samples.js';
import { type BareApi, startBareApi } from '../support/scenes/bare-api.js';
import { detail, missed, RecoverableView } from '../support/scenes/recoverable-view.js';

const SINCE = new Date(NOW).toISOString();
const EXHAUSTED = detail(1);
const WAITING = detail(2, { outcome: 'retrying', step: 1 });
const HELD = detail(3, { held: true });
const CANCELLED = detail(4, { outcome: 'cancelled' });
const OTHERS = detail(5, { accountId: 43 });

let api: BareApi;
let client: Client;
let view: RecoverableView;
let sent: { id: string; payment: string | null; by: SendAgainRequest }[];
/** The requests to cancel, with the payments that each names. */
let cancelled: (string | null)[][];
let result: SentAgain;
let overBudgetMs: number;
let firstKept: FirstKept;

beforeEach(async () => {
  view = new RecoverableView(EXHAUSTED, WAITING, HELD, CANCELLED, OTHERS);
  view.missed = [missed(0), missed(9), missed(8, 2)];
  [sent, cancelled] = [[], []];
  result = { kind: 'accepted' };
  overBudgetMs = 0;
  firstKept = {};
  api = await startBareApi({
    budget: { ...NO_BUDGET, take: () => overBudgetMs },
    parts: {
      view,
      sendAgain: async ({ id, payment }, by) => {
        sent.push({ id, payment, by });
        return result;
      },
      cancel: async (publications) => {
        if (overBudgetMs > 0) return { kind: 'too-much-sent-again', retryAfterMs: overBudgetMs };
        cancelled.push(publications.map(({ payment }) => payment));
        return { kind: 'accepted' };
      },
      payloads: { record: async () => null, keptUntil: async () => null, firstKept: async () => firstKept },
      now: () => new Date(NOW + 3_600_000),
    },
  });
  client = api.client();
  for (const n of [1, 2, 3]) await client.post({ url: `https://shop.example.com/${n}`, eventType: 'cash_in' });
});
afterEach(() => api.close());

type Started = Answer<{ id: string; count: number; message: string; errors?: { field: string }[] }>;

const resend = ({ id }: Pick<ViewedDelivery, 'id'>, by = client): Promise<Started> =>
  by.send('POST', `/api/deliveries/${id}/resend`);
const cancel = ({ id }: Pick<ViewedDelivery, 'id'>, by = client): Promise<Started> =>
  by.send('POST', `/api/deliveries/${id}/cancel`);
const recover = (json: object, by = client): Promise<Started> =>
  by.send('POST', '/api/webhooks/1/recover', { json: { since: SINCE, ...json } });
const recoverSeveral = (json: object, by = client): Promise<Started> =>
  by.send('POST', '/api/recoveries', { json: { since: SINCE, ...json } });
const running = async () => (await api.readModel.accounts.webhooks(42))?.recoveries;
const fieldsOf = ({ status, body }: Started) => [status, body.errors?.map(({ field }) => field)];
const another = () => api.client(43);

/** Of the event of EXHAUSTED, later with each n. */
const publication = (n: number, changes: Partial<ViewedDelivery> = {}) =>
  detail(n, { id: EXHAUSTED.id, eventId: EXHAUSTED.eventId, ...changes });

describe('POST /api/deliveries/{id}/resend', () => {
  it('sends only the newest of several publications, with the caller as its actor', async () => {
    view.details = [publication(1), publication(2)];
    expect(await resend(EXHAUSTED)).toMatchObject({ status: 202, body: { success: true, count: 1 } });
    const { id, payment } = publication(2);
    expect(sent).toEqual([{ id, payment, by: { trigger: 'resend', actor: 'a caller' } }]);
  });
});

describe('the exact counts of starts', () => {
  it('take permits of their user, like reads: up to four concurrently; a start that has waited for 2 s is rejected', async () => {
    const release: (() => void)[] = [];
    const ask = view.ask.bind(view);
    view.ask = async (accountId, question) => {
      await new Promise<void>((resolve) => release.push(resolve));
      return ask(accountId, question);
    };
    const statuses: number[] = [];
    const starts = Array.from({ length: 6 }, () => recover({}).then(({ status }) => statuses.push(status)));
    await eventually(() => statuses.length === 2 || release.length > 4);
    expect(statuses).toEqual([429, 429]);
    expect(release).toHaveLength(4);
    for (const counted of release) counted();
    await Promise.all(starts);
    expect(statuses.toSorted()).toEqual([202, 409, 409, 409, 429, 429]);
  });
});

describe('POST /api/deliveries/{id}/cancel', () => {
  it('is 202 for a waiting delivery, and again for the same one once it is cancelled', async () => {
    const done = { status: 202, body: { message: 'the delivery is cancelled', count: 1 } };
    expect(await cancel(WAITING)).toMatchObject(done);
    const nothing = { status: 202, body: { message: 'nothing waits: no further attempt is made', count: 0 } };
    expect(await cancel(CANCELLED)).toMatchObject(nothing);
    expect(cancelled).toEqual([[WAITING.payment], [CANCELLED.payment]]);
  });

  it('is 200 for what was delivered, which is final, and makes no request', async () => {
    view.details = [1, 2].map((n) => publication(n, { outcome: 'delivered' }));
    expect(await cancel(EXHAUSTED)).toMatchObject({ status: 200, body: { count: 0, outcome: 'delivered' } });
    view.details = [publication(1, { outcome: 'delivered', sentAgain: true })];
    expect(await cancel(EXHAUSTED)).toMatchObject({ status: 202, body: { count: 1 } });
    expect(cancelled).toEqual([[publication(1).payment]]);
  });

  it('is recorded for a delivery that ended because its webhook was removed, since only delivered is final', async () => {
    view.details = [publication(1, { outcome: 'cancelled', endedBy: 'webhook-removed' })];
    expect(await cancel(EXHAUSTED)).toMatchObject({ status: 202, body: { count: 0 } });
    expect(cancelled).toEqual([[publication(1).payment]]);
  });

  it('is one request for all publications of the event, whatever their outcome, and says how many waited', async () => {
    const outcomes = ['exhausted', 'retrying', 'delivered', 'retrying', 'cancelled'] as const;
    view.details = outcomes.map((outcome, index) => publication(index + 1, { outcome }));
    view.details.push(publication(6, { outcome: 'delivered', sentAgain: true }));
    expect(await cancel(EXHAUSTED)).toMatchObject({ status: 202, body: { success: true, count: 3 } });
    expect(cancelled).toEqual([[6, 5, 4, 3, 2, 1].map((n) => publication(n).payment)]);
  });
});

it.each([
  ['resend', resend],
  ['cancel', cancel],
])("%s finds no unknown delivery, nor another account's, and none while the view is rebuilt", async (_, call) => {
  const unknown = await call(detail(9));
  expect(unknown).toMatchObject({ status: 404, body: { code: 'delivery-not-found' } });
  expect((await call(OTHERS)).body).toEqual(unknown.body);
  expect((await call(EXHAUSTED, another())).status).toBe(404);
  view.isCaughtUp = false;
  const { status, headers } = await call(EXHAUSTED);
  expect([status, headers.get('retry-after')]).toEqual([503, '1']);
  expect([sent, cancelled]).toEqual([[], []]);
});

describe('GET /api/webhooks/{id}/recover', () => {
  const time = ({ firstAt }: ViewedDelivery) => new Date(firstAt).toISOString();
  const preview = (query: string): Promise<Started> => client.send('GET', `/api/webhooks/1/recover?${query}`);

  it.each([
    ['', { count: 3, oldest: time(EXHAUSTED), newest: time(HELD) }],
    ['&include=exhausted,retrying', { count: 2, oldest: time(EXHAUSTED), newest: time(WAITING) }],
    ['&include=missed', { count: 2, oldest: SINCE, newest: time(detail(9)) }],
    [`&include=held,missed&until=${time(detail(4))}`, { count: 2, oldest: SINCE, newest: time(HELD) }],
    [`&until=${time(EXHAUSTED)}`, { count: 0, oldest: null, newest: null }],
  ])('counts what would be sent: %s', async (more, expected) => {
    expect(await preview(`since=${SINCE}${more}`)).toMatchObject({ status: 200, body: expected });
  });

  it('counts of what was missed only payments that their topic still has, and says since when it knows of all', async () => {
    [firstKept, view.completeSince] = [{ 'payment-events/0/': 1 }, NOW];
    const previewOf = (query: string) => preview(`since=${SINCE}&include=${query}`);
    const ninth = { count: 1, oldest: time(detail(9)), newest: time(detail(9)), completeSince: SINCE };
    expect((await previewOf('missed')).body).toEqual(ninth);
    expect((await previewOf('held')).body).toMatchObject({ count: 1, completeSince: null });
    expect((await recover({ include: ['missed'] })).body).toMatchObject({ count: 1 });
  });

  it.each([
    ['since=yesterday&until=x', ['since', 'until']],
    [`since=${SINCE}&until=${SINCE}`, ['until']],
    [`since=${SINCE}&include=held,lost`, ['include']],
  ])('is 400 for %s', async (query, fields) => {
    expect(fieldsOf(await preview(query))).toEqual([400, fields]);
  });
});

describe('a recovery', () => {
  it('of one webhook is 202; its progress is shown, and it can be stopped', async () => {
    const started = await recover({ include: ['held', 'exhausted'] });
    expect(started).toMatchObject({ status: 202, body: { success: true, count: 2 } });
    const { id } = started.body;
    expect(await running()).toEqual([expect.objectContaining({ id, webhookIds: [1], actor: 'a caller' })]);
    view.progress.sent = 2;
    const startedAt = new Date(NOW + 3_600_000).toISOString();
    const order = { since: SINCE, until: startedAt, include: ['exhausted', 'held'], perSecond: 20 };
    const progress = { count: 2, sent: 2, delivered: 0, failed: 0, passedBy: null };
    const shown = { id, webhookIds: [1], startedAt, ...order, ...progress };
    expect((await client.send('GET', `/api/recoveries/${id}`)).body).toEqual({ state: 'running', ...shown });
    for (const _ of ['once', 'again']) {
      const stopped = await client.send('DELETE', `/api/recoveries/${id}`);
      expect(stopped).toMatchObject({ status: 200, body: { state: 'stopped' } });
    }
    expect((await client.send('GET', `/api/recoveries/${id}`)).body).toEqual({ state: 'stopped', ...shown });
  });

  it('of several webhooks is one, and counts what each of them missed where it is asked for', async () => {
    view.details.push(detail(6, { webhookId: 2 }));
    const started = await recoverSeveral({ webhookIds: [2, 1], perSecond: 7, include: ['missed', 'exhausted'] });
    expect(started).toMatchObject({ status: 202, body: { success: true, count: 5 } });
    const order = { webhookIds: [2, 1], perSecond: 7, include: ['exhausted', 'missed'], count: 5 };
    expect(await running()).toEqual([expect.objectContaining({ id: started.body.id, ...order })]);
  });

  it('is 409 while one of its webhooks is being recovered, which it names; nothing starts', async () => {
    const all = await Promise.all(Array.from({ length: 5 }, () => recoverSeveral({ webhookIds: [3, 1] })));
    expect(all.map(({ status }) => status).toSorted()).toEqual([202, 409, 409, 409, 409]);
    const message = 'being recovered: webhook 1, 3';
    const refused = { status: 409, body: { code: 'recovery-running', message } };
    expect(await recoverSeveral({ webhookIds: [1, 2, 3] })).toMatchObject(refused);
    expect((await recover({})).body.message).toMatch(/^being recovered: webhook 1$/);
    expect(await running()).toHaveLength(1);
  });

  it('does not start over budget, for an inactive or unknown webhook, by another account, or without a view', async () => {
    overBudgetMs = 1_000;
    const { status, headers } = await recover({});
    expect([status, headers.get('retry-after')]).toEqual([429, '1']);
    overBudgetMs = 0;
    await client.patch(1, { isActive: false });
    const message = expect.stringContaining('activate it first');
    expect(await recover({})).toMatchObject({ status: 409, body: { code: 'webhook-inactive', message } });
    await client.patch(1, { isActive: true });
    for (const refused of [recoverSeveral({ webhookIds: [1, 7] }), recoverSeveral({ webhookIds: [1] }, another())])
      expect((await refused).status).toBe(404);
    expect((await recover({}, another())).status).toBe(404);
    view.id = '';
    expect((await recover({})).status).toBe(503);
    expect(await running()).toEqual([]);
  });

  it.each([
    [{ since: 'yesterday' }, ['since']],
    [{ since: '2026-02-30T09:00:00Z' }, ['since']],
    [{ until: SINCE }, ['until']],
    [{ include: [] }, ['include']],
    [{ include: ['lost'] }, ['include[0]']],
    [{ perSecond: 101 }, ['perSecond']],
    [{ webhookIds: [1, 1] }, ['webhookIds']],
    [{ webhookIds: Array.from({ length: 101 }, (_, n) => n + 1) }, ['webhookIds']],
    [{ webhookIds: ['1'] }, ['webhookIds[0]']],
    [{ webhookIds: [1, 1.5] }, ['webhookIds[1]']],
    [{ webhookIds: [2 ** 53] }, ['webhookIds[0]']],
  ])('is 400 for %j', async (json, fields) => {
    expect(fieldsOf(await recoverSeveral({ webhookIds: [1], ...json }))).toEqual([400, fields]);
  });

  it.each(['GET', 'DELETE'])("is 404 to %s where it is unknown, or another account's", async (method) => {
    const { id } = (await recover({})).body;
    expect((await client.send(method, '/api/recoveries/none')).status).toBe(404);
    expect((await another().send(method, `/api/recoveries/${id}`)).status).toBe(404);
    expect((await client.send('GET', `/api/recoveries/${id}`)).body).toMatchObject({ state: 'running' });
  });

  it('is listed while it is the last of a webhook, with its progress, running ones first', async () => {
    const list = async () => {
      const { body } = await client.send<{ recoveries: { id: string }[] }>('GET', '/api/recoveries');
      return body.recoveries;
    };
    expect(await list()).toEqual([]);
    const first = (await recover({})).body.id;
    await client.send('DELETE', `/api/recoveries/${first}`);
    const second = (await recoverSeveral({ webhookIds: [2] })).body.id;
    view.progress.sent = 1;
    const now = { id: second, webhookIds: [2], state: 'running', sent: 1 };
    expect(await list()).toMatchObject([now, { id: first, webhookIds: [1], state: 'stopped' }]);
    const third = (await recover({})).body.id;
    await client.send('DELETE', `/api/recoveries/${second}`);
    expect((await list()).map(({ id }) => id)).toEqual([third, second]);
    expect((await list())[0]).toEqual((await client.send('GET', `/api/recoveries/${third}`)).body);
    view.id = '';
    expect((await client.send('GET', '/api/recoveries')).status).toBe(503);
  });
});

describe('of an account that has used up its reads', () => {
  let slow: BareApi;
  let time: number;

  beforeEach(async () => {
    time = 0;
    const admission = new Admission({ msPerMinute: 10, now: () => time });
    const ask: RecoverableView['ask'] = (accountId, ...asked) => {
      admission.charge({ owner: accountId, user: 'a caller' }, 100);
      return view.ask(accountId, ...asked);
    };
    slow = await startBareApi({ parts: { view: { isCaughtUp: true, ask, idBehind: async () => null }, admission } });
    await slow.client().post({ url: 'https://shop.example.com/', eventType: 'cash_in' });
  });
  afterEach(() => slow.close());

  const status = async (method: string, path: string) => (await slow.client().send(method, path)).status;
  const start = async () => (await recover({}, slow.client())).status;

  it.each([
    ['GET', '/api/deliveries/none'],
    ['POST', '/api/deliveries/none/resend'],
  ])('what %s %s looks for is charged, also where it is not found', async (method, path) => {
    expect([await status(method, path), await status(method, path)]).toEqual([404, 429]);
  });

  it('a cancellation is charged too, and accepted from the reserve of its user', async () => {
    const cancelled = () => status('POST', '/api/deliveries/none/cancel');
    expect([await cancelled(), await cancelled()]).toEqual([404, 404]);
    expect(await status('POST', '/api/deliveries/none/resend')).toBe(429);
  });

  it('what a start counts is charged, also where it is refused', async () => {
    expect(await start()).toBe(202);
    time += 3_600_000;
    expect([await start(), await start()]).toEqual([409, 429]);
  });

  it('a recovery can be stopped, also repeatedly; starting one is rejected', async () => {
    expect(await start()).toBe(202);
    const { recoveries } = (await slow.readModel.accounts.webhooks(42)) ?? { recoveries: [] };
    const path = `/api/recoveries/${recoveries[0]?.id}`;
    expect([await status('DELETE', path), await status('DELETE', path), await start()]).toEqual([200, 200, 429]);
  });
});
