/** The calls that send again: their answers, and that they are the account's own. */
import { Admission } from '../../src/http/admission.js';
import { BrokerUnavailable, RecordRefused } from '../../src/ports/broker.js';
import type { DeliveryDetail } from '../../src/ports/deliveries-view.js';
import type { SendAgainRequest, SentAgain } from '../../src/ports/send-again.js';
import { NO_BUDGET } from '../../src/webhooks/account-buckets.js';
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
let view: RecoverableView;
let asked: [string, SendAgainRequest][];
/** The requests to cancel, with the payments that each names. */
let cancelled: (string | null)[][];
/** Of what was sent again. */
let payments: (string | null)[];
let result: () => Promise<SentAgain>;
let overBudgetMs: number;
let requestBudgetMs: number;

beforeEach(async () => {
  view = new RecoverableView(EXHAUSTED, WAITING, HELD, CANCELLED, OTHERS);
  view.missed = [missed(0), missed(9), missed(8, 2)];
  [asked, cancelled, payments] = [[], [], []];
  result = async () => ({ kind: 'requested', chain: 7 });
  requestBudgetMs = 0;
  overBudgetMs = 0;
  api = await startBareApi({
    budget: { ...NO_BUDGET, take: () => overBudgetMs },
    parts: {
      view,
      sendAgain: async ({ id, payment }, by) => {
        asked.push([id, by]);
        payments.push(payment);
        return result();
      },
      cancel: async (publications) => {
        if (requestBudgetMs > 0) return { kind: 'over-budget', ms: requestBudgetMs };
        cancelled.push(publications.map(({ payment }) => payment));
        return { kind: 'requested', chain: 8 };
      },
      now: () => new Date(NOW + 3_600_000),
    },
  });
  await call('POST', '/api/webhooks', { url: 'https://shop.example.com/', eventType: 'cash_in' });
});
afterEach(() => api.close());

async function call(method: string, path: string, json?: object, caller = 42) {
  const headers = { authorization: `Bearer caller-${caller}`, 'content-type': 'application/json' };
  const response = await fetch(api.url + path, { method, headers, ...(json && { body: JSON.stringify(json) }) });
  const body = (await response.json()) as { message: string; id: string; errors?: { field: string }[] };
  return { status: response.status, body, retryAfter: response.headers.get('retry-after') };
}

const resend = ({ id }: DeliveryDetail, caller?: number) =>
  call('POST', `/api/deliveries/${id}/resend`, undefined, caller);
const cancel = ({ id }: DeliveryDetail, caller?: number) =>
  call('POST', `/api/deliveries/${id}/cancel`, undefined, caller);
const recover = (json: object, caller?: number) => call('POST', '/api/webhooks/1/recover', json, caller);
const running = async () => (await api.readModel.accounts.webhooks(42))?.recoveries;
const preview = (query: string) => call('GET', `/api/webhooks/1/recover?${query}`);

/** Of the event of EXHAUSTED, later with each n. */
const publication = (n: number, changes: Partial<DeliveryDetail> = {}) =>
  detail(n, { id: EXHAUSTED.id, eventId: EXHAUSTED.eventId, ...changes });

describe('POST /api/deliveries/{id}/resend', () => {
  it('sends only the newest of several publications', async () => {
    view.details = [publication(1), publication(2)];
    expect(await resend(EXHAUSTED)).toMatchObject({ status: 202, body: { count: 1 } });
    expect(payments).toEqual([publication(2).payment]);
  });

  it('is 202, with the caller as its actor', async () => {
    expect(await resend(EXHAUSTED)).toMatchObject({ status: 202, body: { success: true, count: 1 } });
    expect(asked).toEqual([[EXHAUSTED.id, { trigger: 'resend', actor: 'a caller' }]]);
  });

  it("is 404 for an unknown delivery, and for another account's", async () => {
    expect(await resend(OTHERS)).toEqual(await resend(detail(9)));
    expect(await resend(OTHERS)).toMatchObject({ status: 404, body: { message: 'delivery not found' } });
    expect((await resend(EXHAUSTED, 43)).status).toBe(404);
    expect(asked).toEqual([]);
  });

  it.each(['gone', 'inactive', 'too-often'] as const)('is 409 where the delivery is %s', async (why) => {
    result = async () => ({ kind: why });
    expect((await resend(EXHAUSTED)).status).toBe(409);
  });

  it('is 503 with Retry-After while the broker is away, its topic refuses the delivery, or there is no view', async () => {
    result = () => Promise.reject(new RecordRefused('its topic refuses it'));
    expect(await resend(EXHAUSTED)).toMatchObject({ status: 503, retryAfter: '5' });
    result = () => Promise.reject(new BrokerUnavailable('away'));
    expect(await resend(EXHAUSTED)).toMatchObject({ status: 503, retryAfter: '5' });
    view.id = '';
    expect(await resend(EXHAUSTED)).toMatchObject({ status: 503, retryAfter: '1' });
  });

  it('is 429 with Retry-After where the account had too much sent again', async () => {
    result = async () => ({ kind: 'over-budget', ms: 4_200 });
    expect(await resend(EXHAUSTED)).toMatchObject({ status: 429, retryAfter: '5' });
  });

  it('says in the log which chain it began', async () => {
    await resend(EXHAUSTED);
    const about = expect.objectContaining({ deliveryId: EXHAUSTED.id, chain: 7 });
    expect(api.logger.infos).toContainEqual([about, 'a delivery is sent again']);
  });
});

it.each(['resend', 'cancel'])('%s is 503 with Retry-After while the view is rebuilt', async (what) => {
  view.isCaughtUp = false;
  const path = `/api/deliveries/${EXHAUSTED.id}/${what}`;
  expect(await call('POST', path)).toMatchObject({ status: 503, retryAfter: '1' });
  expect([asked, cancelled]).toEqual([[], []]);
});

describe('POST /api/deliveries/{id}/cancel', () => {
  it('is 202 for a waiting delivery, and again for the same one once it is cancelled', async () => {
    const done = { status: 202, body: { message: 'the delivery is cancelled', count: 1 } };
    expect(await cancel(WAITING)).toMatchObject(done);
    const nothing = { status: 202, body: { message: 'nothing waits: no further attempt is made', count: 0 } };
    expect(await cancel(CANCELLED)).toMatchObject(nothing);
    expect(cancelled).toEqual([[WAITING.payment], [CANCELLED.payment]]);
  });

  it('is one request for all publications of the event, and says how many waited', async () => {
    view.details = [publication(1), publication(2, { outcome: 'retrying' }), publication(3, { outcome: 'delivered' })];
    view.details.push(publication(4, { outcome: 'retrying' }), publication(5, { outcome: 'cancelled' }));
    view.details.push(publication(6, { outcome: 'delivered', sentAgain: true }));
    expect(await cancel(EXHAUSTED)).toMatchObject({ status: 202, body: { success: true, count: 3 } });
    expect(cancelled).toEqual([[6, 5, 4, 3, 2, 1].map((n) => publication(n).payment)]);
  });

  it.each(['delivered', 'exhausted', 'cancelled', 'retrying'] as const)(
    'is refused by no outcome that the view shows: %s',
    async (outcome) => {
      view.details = [publication(1, { outcome })];
      expect((await cancel(EXHAUSTED)).status).toBe(202);
      expect(cancelled).toEqual([[publication(1).payment]]);
    },
  );

  it('is 429 with Retry-After where the account had too much sent again', async () => {
    requestBudgetMs = 2_000;
    expect(await cancel(WAITING)).toMatchObject({ status: 429, retryAfter: '2' });
  });

  it("is 404 for an unknown one and another account's", async () => {
    const all = [detail(9), OTHERS].map(async (one) => (await cancel(one)).status);
    expect(await Promise.all(all)).toEqual([404, 404]);
    expect(cancelled).toEqual([]);
  });
});

describe('GET /api/webhooks/{id}/recover', () => {
  const time = ({ firstAt }: DeliveryDetail) => new Date(firstAt).toISOString();

  it.each([
    ['', { count: 3, oldest: time(EXHAUSTED), newest: time(HELD) }],
    ['&include=held', { count: 1, oldest: time(HELD), newest: time(HELD) }],
    ['&include=exhausted,retrying', { count: 2, oldest: time(EXHAUSTED), newest: time(WAITING) }],
    ['&include=missed', { count: 2, oldest: SINCE, newest: time(detail(9)) }],
    ['&include=held,missed', { count: 3, oldest: SINCE, newest: time(detail(9)) }],
    [`&include=held,missed&until=${time(detail(4))}`, { count: 2, oldest: SINCE, newest: time(HELD) }],
    [`&until=${time(EXHAUSTED)}`, { count: 0, oldest: null, newest: null }],
  ])('counts what would be sent: %s', async (more, expected) => {
    expect(await preview(`since=${SINCE}${more}`)).toMatchObject({ status: 200, body: expected });
  });

  it.each([
    ['', ['since']],
    ['since=yesterday&until=x', ['since', 'until']],
    [`since=${SINCE}&until=${SINCE}`, ['until']],
    [`since=${SINCE}&include=`, ['include']],
    [`since=${SINCE}&include=held,lost`, ['include']],
  ])('is 400 for %s', async (query, fields) => {
    const { status, body } = await preview(query);
    expect([status, body.errors?.map(({ field }) => field)]).toEqual([400, fields]);
  });

  it("is 404 for an unknown webhook, and another account's", async () => {
    expect((await call('GET', `/api/webhooks/7/recover?since=${SINCE}`)).status).toBe(404);
    expect((await call('GET', `/api/webhooks/1/recover?since=${SINCE}`, undefined, 43)).status).toBe(404);
  });
});

describe('POST /api/webhooks/{id}/recover', () => {
  it('is 202; its progress is shown, and it can be stopped', async () => {
    const started = await recover({ since: SINCE, include: ['held', 'exhausted'] });
    expect(started).toMatchObject({ status: 202, body: { success: true, count: 2 } });
    const { id } = started.body;
    view.progress.sent = 2;
    const startedAt = new Date(NOW + 3_600_000).toISOString();
    const order = { since: SINCE, until: startedAt, include: ['exhausted', 'held'], perSecond: 20 };
    const progress = { count: 2, sent: 2, delivered: 0, failed: 0, passedBy: null };
    const shown = { id, webhookIds: [1], startedAt, ...order, ...progress };
    expect((await call('GET', `/api/recoveries/${id}`)).body).toEqual({ state: 'running', ...shown });
    for (const _ of ['once', 'again']) {
      expect(await call('DELETE', `/api/recoveries/${id}`)).toMatchObject({ status: 200, body: { state: 'stopped' } });
    }
    expect((await call('GET', `/api/recoveries/${id}`)).body).toEqual({ state: 'stopped', ...shown });
  });

  it('counts and recovers what the webhook missed where it is asked for', async () => {
    expect(await recover({ since: SINCE, include: ['missed', 'held'] })).toMatchObject({
      status: 202,
      body: { count: 3 },
    });
    expect(await running()).toEqual([expect.objectContaining({ include: ['held', 'missed'], count: 3 })]);
  });

  it('is in the history with who asked for it: nothing else has to be written', async () => {
    const { id } = (await recover({ since: SINCE })).body;
    expect(await running()).toEqual([expect.objectContaining({ id, webhookIds: [1], actor: 'a caller' })]);
  });

  it('is 409 while one runs, and starts no second one', async () => {
    const all = await Promise.all(Array.from({ length: 5 }, () => recover({ since: SINCE })));
    expect(all.map(({ status }) => status).toSorted()).toEqual([202, 409, 409, 409, 409]);
    expect((await recover({ since: SINCE })).status).toBe(409);
    expect(await running()).toHaveLength(1);
  });

  it('is 429 where the account has no budget left, and nothing starts', async () => {
    overBudgetMs = 1_000;
    expect(await recover({ since: SINCE })).toMatchObject({ status: 429, retryAfter: '1' });
    expect(await running()).toEqual([]);
  });

  it('is 409 while the webhook is inactive, and says what to do', async () => {
    await call('PATCH', '/api/webhooks/1', { isActive: false });
    expect(await recover({ since: SINCE })).toMatchObject({
      status: 409,
      body: { code: 'webhook-inactive', message: expect.stringContaining('activate it first') },
    });
    expect(await running()).toEqual([]);
  });

  it.each([
    [{}, ['since']],
    [{ since: 5 }, ['since']],
    [{ since: 'yesterday' }, ['since']],
    [{ since: '2026-02-30T09:00:00Z' }, ['since']],
    [{ since: SINCE, until: SINCE }, ['until']],
    [{ since: SINCE, include: [] }, ['include']],
    [{ since: SINCE, include: ['lost'] }, ['include[0]']],
    [{ since: SINCE, perSecond: 0 }, ['perSecond']],
    [{ since: SINCE, perSecond: 101 }, ['perSecond']],
    [{ since: SINCE, perSecond: 1.5 }, ['perSecond']],
  ])('is 400 for %j', async (json, fields) => {
    const { status, body } = await recover(json);
    expect([status, body.errors?.map(({ field }) => field)]).toEqual([400, fields]);
  });

  it("is 404 for an unknown webhook and another account's", async () => {
    expect((await call('POST', '/api/webhooks/7/recover', { since: SINCE })).status).toBe(404);
    expect((await recover({ since: SINCE }, 43)).status).toBe(404);
  });

  it('is 503 without a view, and nothing starts', async () => {
    view.id = '';
    expect((await recover({ since: SINCE })).status).toBe(503);
    expect(await running()).toEqual([]);
  });
});

describe('POST /api/recoveries', () => {
  const start = (json: object, caller?: number) => call('POST', '/api/recoveries', { since: SINCE, ...json }, caller);
  const another = (n: number) =>
    call('POST', '/api/webhooks', { url: `https://shop.example.com/${n}`, eventType: 'cash_in' });

  it('is one recovery of several webhooks', async () => {
    await another(2);
    view.details.push(detail(6, { webhookId: 2 }));
    const started = await start({ webhookIds: [2, 1], perSecond: 7 });
    expect(started).toMatchObject({ status: 202, body: { success: true, count: 4 } });
    const { id } = started.body;
    expect(await running()).toEqual([expect.objectContaining({ id, webhookIds: [2, 1], perSecond: 7 })]);
  });

  it('counts what each of them missed', async () => {
    await another(2);
    const started = await start({ webhookIds: [2, 1], include: ['missed'] });
    expect(started).toMatchObject({ status: 202, body: { count: 3 } });
  });

  it('is 409 where some are being recovered, and names them; nothing starts', async () => {
    await another(2);
    await another(3);
    await start({ webhookIds: [3, 1] });
    const refused = await start({ webhookIds: [1, 2, 3] });
    const message = expect.stringContaining('being recovered: webhook 1, 3');
    expect(refused).toMatchObject({ status: 409, body: { code: 'recovery-running', message } });
    expect((await recover({ since: SINCE })).body.message).toMatch(/^being recovered: webhook 1$/);
    expect(await running()).toHaveLength(1);
  });

  it.each([
    [{}, ['webhookIds']],
    [{ webhookIds: 1 }, ['webhookIds']],
    [{ webhookIds: [] }, ['webhookIds']],
    [{ webhookIds: [1, 1] }, ['webhookIds']],
    [{ webhookIds: Array.from({ length: 101 }, (_, n) => n + 1) }, ['webhookIds']],
    [{ webhookIds: ['1'] }, ['webhookIds[0]']],
    [{ webhookIds: [1, 1.5] }, ['webhookIds[1]']],
    [{ webhookIds: [2 ** 53] }, ['webhookIds[0]']],
    [{ webhookIds: [1], perSecond: 0 }, ['perSecond']],
  ])('is 400 for %j', async (json, fields) => {
    const { status, body } = await start(json);
    expect([status, body.errors?.map(({ field }) => field)]).toEqual([400, fields]);
  });

  it("is 404 where one of them is unknown, and for another account's", async () => {
    expect((await start({ webhookIds: [1, 7] })).status).toBe(404);
    expect((await start({ webhookIds: [1] }, 43)).status).toBe(404);
    expect(await running()).toEqual([]);
  });
});

describe('GET /api/recoveries', () => {
  const listed = async (caller?: number) => {
    const { status, body } = await call('GET', '/api/recoveries', undefined, caller);
    return { status, body: body as unknown as { recoveries: { id: string; webhookIds: number[]; state: string }[] } };
  };
  const another = async () => {
    await call('POST', '/api/webhooks', { url: 'https://shop.example.com/2', eventType: 'cash_in' });
    return (await call('POST', '/api/webhooks/2/recover', { since: SINCE })).body.id;
  };

  it('is the last of each webhook with its progress, running ones first', async () => {
    expect(await listed()).toEqual({ status: 200, body: { recoveries: [] } });
    const first = (await recover({ since: SINCE })).body.id;
    await call('DELETE', `/api/recoveries/${first}`);
    const second = await another();
    view.progress.sent = 1;
    const running = { id: second, webhookIds: [2], state: 'running', sent: 1 };
    expect((await listed()).body.recoveries).toMatchObject([running, { id: first, webhookIds: [1], state: 'stopped' }]);
    const third = (await recover({ since: SINCE })).body.id;
    await call('DELETE', `/api/recoveries/${second}`);
    expect((await listed()).body.recoveries.map(({ id }) => id)).toEqual([third, second]);
    const [one] = (await listed()).body.recoveries;
    expect(one).toEqual((await call('GET', `/api/recoveries/${third}`)).body);
  });

  it("has none of another account's", async () => {
    await recover({ since: SINCE });
    expect((await listed(43)).status).toBe(404);
  });

  it('is 503 without a view', async () => {
    await recover({ since: SINCE });
    view.id = '';
    expect((await listed()).status).toBe(503);
  });
});

it.each(['GET', 'DELETE'])(
  "%s /api/recoveries/{id} is 404 for an unknown recovery, and for another account's",
  async (method) => {
    const { id } = (await recover({ since: SINCE })).body;
    const answers = [call(method, '/api/recoveries/none'), call(method, `/api/recoveries/${id}`, undefined, 43)];
    const [unknown, others] = await Promise.all(answers);
    expect([unknown?.status, others?.status]).toEqual([404, 404]);
    expect((await call('GET', `/api/recoveries/${id}`)).body).toMatchObject({ state: 'running' });
  },
);

describe('of an account that has used up its reads', () => {
  let slow: BareApi;
  let time: number;

  beforeEach(async () => {
    time = 0;
    const admission = new Admission({ msPerMinute: 10, now: () => time });
    const ask: RecoverableView['ask'] = (accountId, ...asked) => {
      admission.charge(accountId, 100);
      return view.ask(accountId, ...asked);
    };
    const parts = { view: { isCaughtUp: true, ask, idBehind: async () => null }, admission };
    slow = await startBareApi({ parts });
    await status('POST', '/api/webhooks', { url: 'https://shop.example.com/', eventType: 'cash_in' });
  });
  afterEach(() => slow.close());

  async function status(method: string, path: string, json?: object) {
    const headers = { authorization: 'Bearer caller-42', 'content-type': 'application/json' };
    const body = json && JSON.stringify(json);
    return (await fetch(slow.url + path, { method, headers, ...(body && { body }) })).status;
  }
  const start = () => status('POST', '/api/webhooks/1/recover', { since: SINCE });

  it.each([
    ['GET', '/api/deliveries/none'],
    ['POST', '/api/deliveries/none/resend'],
    ['POST', '/api/deliveries/none/cancel'],
  ])('what %s %s looks for is charged, also where it is not found', async (method, path) => {
    expect([await status(method, path), await status(method, path)]).toEqual([404, 429]);
  });

  it('what a start counts is charged, also where it is refused', async () => {
    expect(await start()).toBe(202);
    time += 600_000;
    expect([await start(), await start()]).toEqual([409, 429]);
  });

  it('a recovery can be stopped, and what has ended is only shown at their cost', async () => {
    expect(await start()).toBe(202);
    const { recoveries } = (await slow.readModel.accounts.webhooks(42)) ?? { recoveries: [] };
    const path = `/api/recoveries/${recoveries[0]?.id}`;
    expect([await status('DELETE', path), await status('DELETE', path)]).toEqual([200, 429]);
  });
});
