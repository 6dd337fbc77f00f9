/** The calls that send again: their answers, and that they are the account's own. */
import { setImmediate as immediate } from 'node:timers/promises';
import { ReadLimit } from '../../src/http/rate-limit.js';
import { BrokerUnavailable } from '../../src/ports/broker.js';
import type { DeliveryDetail } from '../../src/ports/deliveries-view.js';
import type { RecoveryOrder, SendAgainRequest, SentAgain } from '../../src/ports/send-again.js';
import { NO_BUDGET } from '../../src/webhooks/account-buckets.js';
import { type BareApi, startBareApi } from '../support/bare-api.js';
import { NOW } from '../support/delivery-samples.js';
import { detail, RecoverableView } from '../support/recoverable-view.js';

const SINCE = new Date(NOW).toISOString();
const EXHAUSTED = detail(1);
const WAITING = detail(2, { outcome: 'retrying', step: 1 });
const HELD = detail(3, { held: true });
const CANCELLED = detail(4, { outcome: 'cancelled' });
const OTHERS = detail(5, { accountId: 43 });

let api: BareApi;
let view: RecoverableView;
let asked: [string, SendAgainRequest][];
let cancelled: string[];
/** Of what was sent again or cancelled. */
let payments: (string | null)[];
let orders: RecoveryOrder[];
let result: () => Promise<SentAgain>;
let overBudgetMs: number;

beforeEach(async () => {
  view = new RecoverableView(EXHAUSTED, WAITING, HELD, CANCELLED, OTHERS);
  [asked, cancelled, payments, orders] = [[], [], [], []];
  result = async () => 'put-back';
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
      cancel: async ({ id, payment }) => {
        cancelled.push(id);
        payments.push(payment);
      },
      orderRecovery: async (order) => {
        orders.push(order);
        await immediate();
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
    result = async () => why;
    expect((await resend(EXHAUSTED)).status).toBe(409);
  });

  it('is 503 with Retry-After while the broker is away, its topic refuses the delivery, or there is no view', async () => {
    result = async () => 'refused';
    expect(await resend(EXHAUSTED)).toMatchObject({ status: 503, retryAfter: '5' });
    result = () => Promise.reject(new BrokerUnavailable('away'));
    expect(await resend(EXHAUSTED)).toMatchObject({ status: 503, retryAfter: '5' });
    view.id = '';
    expect(await resend(EXHAUSTED)).toMatchObject({ status: 503, retryAfter: '1' });
  });
});

describe('POST /api/deliveries/{id}/cancel', () => {
  it('is 202 for a waiting delivery, and again for the same one once it is cancelled', async () => {
    expect(await cancel(WAITING)).toMatchObject({ status: 202, body: { count: 1 } });
    expect(await cancel(CANCELLED)).toMatchObject({ status: 202, body: { count: 0 } });
    expect(cancelled).toEqual([WAITING.id, CANCELLED.id]);
  });

  it('ends all publications of the event that wait, and says how many', async () => {
    view.details = [publication(1), publication(2, { outcome: 'retrying' }), publication(3, { outcome: 'delivered' })];
    view.details.push(publication(4, { outcome: 'retrying' }), publication(5, { outcome: 'cancelled' }));
    expect(await cancel(EXHAUSTED)).toMatchObject({ status: 202, body: { success: true, count: 2 } });
    expect(payments).toEqual([5, 4, 2].map((n) => publication(n).payment));
  });

  it('leaves what the removal of its webhook ended to a dispatcher, which reports it', async () => {
    view.details = [detail(1, { outcome: 'cancelled', endedBy: 'webhook-removed' })];
    expect(await cancel(EXHAUSTED)).toMatchObject({ status: 202, body: { success: true, count: 0 } });
    expect(cancelled).toEqual([]);
  });

  it.each(['delivered', 'exhausted', 'cancelled'] as const)(
    'is 202 for one that was %s and waits again',
    async (was) => {
      const before = { outcome: was, turn: 1 };
      view.details = [
        detail(1, { outcome: was === 'delivered' ? was : 'retrying', before }),
        // Cancelled before: its mark may be missing.
        detail(2, { outcome: was, before }),
      ];
      for (const one of view.details) {
        expect(await cancel(one)).toMatchObject({ status: 202, body: { message: 'the attempt is cancelled' } });
      }
      expect(cancelled).toEqual(view.details.map(({ id }) => id));
    },
  );

  it("is 409 for one that has ended, and 404 for an unknown one and another account's", async () => {
    const all = [EXHAUSTED, detail(9), OTHERS].map(async (one) => (await cancel(one)).status);
    expect(await Promise.all(all)).toEqual([409, 404, 404]);
    expect(cancelled).toEqual([]);
  });
});

describe('GET /api/webhooks/{id}/recover', () => {
  const time = ({ firstAt }: DeliveryDetail) => new Date(firstAt).toISOString();

  it.each([
    ['', { count: 3, oldest: time(EXHAUSTED), newest: time(HELD) }],
    ['&include=held', { count: 1, oldest: time(HELD), newest: time(HELD) }],
    ['&include=exhausted,retrying', { count: 2, oldest: time(EXHAUSTED), newest: time(WAITING) }],
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
  it('is 202, with the order before the event; its progress is shown, and it can be stopped', async () => {
    const started = await recover({ since: SINCE, include: ['held', 'exhausted'] });
    expect(started).toMatchObject({ status: 202, body: { success: true, count: 2 } });
    const { id } = started.body;
    expect(orders).toEqual([{ id, accountId: 42, webhookId: 1, actor: 'a caller' }]);
    view.progress.sent = 2;
    const startedAt = new Date(NOW + 3_600_000).toISOString();
    const order = { since: SINCE, until: startedAt, include: ['exhausted', 'held'], perSecond: 20 };
    const shown = { id, webhookId: 1, startedAt, ...order, count: 2, sent: 2, delivered: 0, failed: 0 };
    expect((await call('GET', `/api/recoveries/${id}`)).body).toEqual({ state: 'running', ...shown });
    for (const _ of ['once', 'again']) {
      expect(await call('DELETE', `/api/recoveries/${id}`)).toMatchObject({ status: 200, body: { state: 'stopped' } });
    }
    expect((await call('GET', `/api/recoveries/${id}`)).body).toEqual({ state: 'stopped', ...shown });
  });

  it('is 409 while one runs, and orders nothing', async () => {
    const all = await Promise.all(Array.from({ length: 5 }, () => recover({ since: SINCE })));
    expect(all.map(({ status }) => status).toSorted()).toEqual([202, 409, 409, 409, 409]);
    expect((await recover({ since: SINCE })).status).toBe(409);
    expect(orders).toHaveLength(1);
  });

  it('is 429 where the account has no budget left, and orders nothing', async () => {
    overBudgetMs = 1_000;
    expect(await recover({ since: SINCE })).toMatchObject({ status: 429, retryAfter: '1' });
    expect(orders).toEqual([]);
  });

  it('is 409 while the webhook is inactive, and says what to do', async () => {
    await call('PATCH', '/api/webhooks/1', { isActive: false });
    expect(await recover({ since: SINCE })).toMatchObject({
      status: 409,
      body: { message: 'the webhook is inactive: activate it first' },
    });
    expect(orders).toEqual([]);
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
    expect(orders).toEqual([]);
  });
});

describe('GET /api/recoveries', () => {
  const listed = async (caller?: number) => {
    const { status, body } = await call('GET', '/api/recoveries', undefined, caller);
    return { status, body: body as unknown as { recoveries: { id: string; webhookId: number; state: string }[] } };
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
    const running = { id: second, webhookId: 2, state: 'running', sent: 1 };
    expect((await listed()).body.recoveries).toMatchObject([running, { id: first, webhookId: 1, state: 'stopped' }]);
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
    const unlimited = { take: () => ({ allowed: true, headers: {} }) };
    const reads = new ReadLimit({ msPerMinute: 10, now: () => time });
    const ask: RecoverableView['ask'] = (question, nothing) => {
      time += 100;
      return view.ask(question, nothing);
    };
    slow = await startBareApi({
      parts: { view: { ask }, rateLimits: { writes: unlimited, tests: unlimited, tokens: unlimited, reads } },
    });
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
