import { beforeEach, describe, expect, test } from '@jest/globals';
import type { AttemptResult } from '../../src/delivery/attempt.js';
import type { Delivery } from '../../src/delivery/delivery.js';
import { StoreUnavailable } from '../../src/ports/event-store.js';
import { DeliverFixture, type Waiting } from '../support/deliver-fixture.js';
import {
  ACCOUNT,
  DELIVERED,
  deliveryTo,
  failedWith,
  GONE,
  INTERRUPTED,
  NOW,
  paymentRecord,
  TIMED_OUT,
} from '../support/delivery-samples.js';
import { eventually } from '../support/eventually.js';
import { webhookOf } from '../support/fake-accounts.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

let fixture: DeliverFixture;
beforeEach(() => {
  fixture = new DeliverFixture();
  fixture.accounts.put(webhookOf(1));
});

/** The fixture after one step of a delivery to webhook 1 whose attempt came to `result`. */
async function attempted(result: AttemptResult, delivery: Partial<Delivery> = {}, using = fixture) {
  using.accounts.put(webhookOf(1));
  using.answer = () => result;
  await using.deliver(deliveryTo(1, delivery));
  return using;
}

const tiersOf = ({ waiting }: DeliverFixture) => waiting.map(({ tier }) => tier);

describe('an attempt that is answered with 2xx', () => {
  test('ends the delivery: one record of the log, and nothing else', async () => {
    const { log, broker } = await attempted({ ...DELIVERED, status: 204 } as AttemptResult, { attempts: 2, step: 2 });
    expect(broker.topics).toEqual(['webhooks.deliveries']);
    expect(log).toMatchObject([{ outcome: 'delivered', attempt: { status: 204, version: 1 }, nextAttemptAt: null }]);
  });
});

describe('an attempt that failed', () => {
  test.each([
    ['status 500', failedWith(500)],
    ['status 301', failedWith(301)],
    ['status 404', failedWith(404)],
    ['a timeout', TIMED_OUT],
  ])('%s: waits in the first tier, with the attempt counted and logged', async (_, result) => {
    const { log, waiting, deadLetters } = await attempted(result);
    expect(waiting).toMatchObject([{ tier: '5s', due: NOW + 5 * SECOND, delivery: { attempts: 1, step: 1 } }]);
    const { status, error } = result;
    expect(log).toMatchObject([{ outcome: 'retrying', attempt: { status, error } }]);
    expect(log[0]?.nextAttemptAt).toBe(new Date(NOW + 5 * SECOND).toISOString());
    expect(deadLetters).toEqual([]);
  });

  test.each([
    [0, '5s'],
    [1, '5m'],
    [2, '2h'],
  ])('at step %d it waits in the tier %s', async (step, tier) => {
    const { waiting } = await attempted(failedWith(500), { step, attempts: 7 });
    expect(waiting).toMatchObject([{ tier, delivery: { step: step + 1, attempts: 8 } }]);
  });

  test.each([
    [0, 5 * SECOND],
    [0.5, 5.25 * SECOND],
    [0.999_999, 5.5 * SECOND - 1],
  ])('random %d: it is due after %d ms, which is up to a tenth later', async (random, ms) => {
    const { waiting, log } = await attempted(failedWith(500), {}, new DeliverFixture({ random: () => random }));
    expect(waiting).toMatchObject([{ due: NOW + ms }]);
    expect(log[0]?.nextAttemptAt).toBe(new Date(NOW + ms).toISOString());
  });

  test('the whole schedule: attempts are one more than delays, all with one webhook-id, then a dead letter', async () => {
    const twice = [...fixture.parts.schedule.slice(0, 2), ...fixture.parts.schedule.slice(0, 1)];
    const { waits, used } = await untilItEnds(new DeliverFixture({ schedule: twice }), () => failedWith(500));
    expect(waits).toEqual(['5s', '5m', '5s']);
    expect(used.requests).toHaveLength(4);
    expect(new Set(used.requests.map(({ id }) => id))).toEqual(new Set([deliveryTo(1).id]));
    expect(used.log.map(({ outcome }) => outcome)).toEqual(['retrying', 'retrying', 'retrying', 'exhausted']);
    expect(used.deadLetters).toHaveLength(1);
  });

  test.each([
    [3, 4],
    [9, 2],
  ])(
    'at step %d no delay is left: exhausted, and a dead letter with the payment and the count',
    async (step, attempts) => {
      const { log, waiting, deadLetters } = await attempted(failedWith(502), { step, attempts: attempts - 1 });
      expect(waiting).toEqual([]);
      expect(log).toMatchObject([{ outcome: 'exhausted', attempt: { status: 502 }, nextAttemptAt: null }]);
      expect(deadLetters).toMatchObject([{ key: paymentRecord().key, value: paymentRecord().value }]);
      const headers = Object.fromEntries(deadLetters[0]?.headers.map(([name, value]) => [name, String(value)]) ?? []);
      expect(headers).toMatchObject({ 'aw-reason': 'exhausted', 'aw-detail': 'status 502', 'aw-webhook-id': '1' });
      expect(headers).toMatchObject({ 'aw-attempts': String(attempts), traceparent: '00-ab-cd-01' });
    },
  );

  test.each([
    ['less than the current delay', 0, 1 * SECOND, '5s', 1],
    ['exactly the current one', 0, 5 * SECOND, '5s', 1],
    ['1 ms more', 0, 5 * SECOND + 1, '5m', 2],
    ['an hour, which the third covers', 0, HOUR, '2h', 3],
    ['a day, which none covers', 0, 24 * HOUR, '2h', 3],
    ['a second, at a later step', 1, SECOND, '5m', 2],
  ])('Retry-After asks for %s: the first tier that covers it, else the last', async (_, step, ms, tier, next) => {
    const { waiting } = await attempted(failedWith(429, ms), { step });
    expect(waiting).toMatchObject([{ tier, delivery: { step: next, attempts: 1 } }]);
  });

  test('after a Retry-After the schedule goes on from the tier it chose; after the last one it ends', async () => {
    const answers = [failedWith(503, MINUTE), failedWith(500), failedWith(503, SECOND)];
    const { waits, used } = await untilItEnds(fixture, (attempts) => answers[attempts] ?? DELIVERED);
    expect(waits).toEqual(['5m', '2h']);
    expect(used.log.at(-1)).toMatchObject({ outcome: 'exhausted' });
  });
});

describe('an attempt that is answered with 410', () => {
  test('deactivates the webhook of the version it was sent with, and cancels', async () => {
    const { commands, log, broker } = await attempted(GONE);
    expect(commands).toMatchObject([
      {
        accountId: ACCOUNT,
        actor: 'dispatcher',
        command: { type: 'DeactivateWebhook', webhookId: 1, version: 1, at: new Date(NOW).toISOString() },
      },
    ]);
    expect(log).toMatchObject([{ outcome: 'cancelled', attempt: { status: 410 }, nextAttemptAt: null }]);
    expect(broker.topics).toEqual(['webhooks.deliveries']);
  });

  test('the webhook having been updated meanwhile: it is tried again under what is configured now', async () => {
    fixture.answer = () => {
      fixture.accounts.put(webhookOf(1, { version: 2 }));
      return GONE;
    };
    await fixture.deliver(deliveryTo(1));
    expect(fixture.waiting).toMatchObject([{ tier: '5s', delivery: { attempts: 1 } }]);
    expect(fixture.log).toMatchObject([{ outcome: 'retrying', attempt: { status: 410, version: 1 } }]);
  });

  test('the store being away: it is tried again like any failure, and its next 410 deactivates', async () => {
    fixture.decision = () => Promise.reject(new StoreUnavailable('away'));
    const { waiting, log } = await attempted(GONE);
    expect(waiting).toMatchObject([{ tier: '5s', delivery: { attempts: 1 } }]);
    expect(log).toMatchObject([{ outcome: 'retrying', attempt: { status: 410 } }]);
  });
});

describe('a webhook that is gone or inactive', () => {
  test.each([
    ['gone', () => fixture.accounts.remove(1)],
    ['inactive', () => fixture.accounts.put(webhookOf(1, { isActive: false }))],
  ])('%s: cancelled without an attempt', async (_, change) => {
    change();
    await fixture.deliver(deliveryTo(1, { attempts: 1, step: 1 }));
    expect(fixture.requests).toEqual([]);
    expect(fixture.broker.topics).toEqual(['webhooks.deliveries']);
    expect(fixture.log).toMatchObject([{ outcome: 'cancelled', attempt: null, nextAttemptAt: null }]);
  });

  test('inactive, with a line that is full: cancelled too, not put off', async () => {
    for (let n = 0; n <= 2_000; n += 1) void fixture.gate.enter(...lineOf(1));
    fixture.accounts.put(webhookOf(1, { isActive: false }));
    await fixture.deliver(deliveryTo(1));
    expect(fixture.log).toMatchObject([{ outcome: 'cancelled' }]);
    expect(fixture.waiting).toEqual([]);
  });

  test.each([
    ['gone', () => fixture.accounts.remove(1)],
    ['inactive', () => fixture.accounts.put(webhookOf(1, { isActive: false }))],
  ])('%s while it waited in the line: cancelled without an attempt too', async (_, change) => {
    const place = await fixture.gate.enter(...lineOf(1));
    const delivered = fixture.deliver(deliveryTo(1));
    change();
    if (place.kind === 'entered') place.leave();
    await delivered;
    expect(fixture.requests).toEqual([]);
    expect(fixture.log).toMatchObject([{ outcome: 'cancelled', attempt: null }]);
  });
});

describe('what an attempt is made with', () => {
  test("the webhook's endpoint, the payment's very bytes, opened headers, the account's secrets, the stop's signal", async () => {
    const value = Buffer.from([0x7b, 0x20, 0xff, 0x7d]);
    const headers = [{ key: 'X-A', sealed: 'a' }];
    fixture.accounts.put(webhookOf(1, { url: 'HTTPS://Shop.example.com/1', headers }));
    const delivery = deliveryTo(1, { record: paymentRecord({ value }) });
    await fixture.deliver(delivery);
    expect(fixture.requests).toEqual([
      {
        url: 'https://shop.example.com/1',
        id: delivery.id,
        body: value,
        headers: [{ key: 'X-A', value: 'opened a' }],
        secrets: [Buffer.alloc(32, 1)],
        signal: fixture.interrupt.signal,
      },
    ]);
  });

  test('is looked up again at each attempt; the log tells with which version it was sent', async () => {
    fixture.accounts.put(webhookOf(1, { headers: [{ key: 'X-A', sealed: 'old' }] }));
    fixture.answer = () => failedWith(500);
    await fixture.deliver(deliveryTo(1));
    fixture.accounts.put(
      webhookOf(1, { version: 2, headers: [{ key: 'X-A', sealed: 'new' }], endpoint: 'https://new/' }),
    );
    fixture.secrets = async () => [Buffer.alloc(32, 2)];
    const [waiting] = fixture.waiting;
    if (waiting) await fixture.deliver(waiting.delivery);
    const made = fixture.requests.map(({ url, headers, secrets }) => [url, headers[0]?.value, secrets[0]?.[0]]);
    expect(made).toEqual([
      ['https://shop.example.com/1', 'opened old', 1],
      ['https://new/', 'opened new', 2],
    ]);
    expect(fixture.log.map(({ attempt }) => attempt?.version)).toEqual([1, 2]);
  });

  test('an update while it waits in the line counts', async () => {
    const place = await fixture.gate.enter(...lineOf(1));
    const delivered = fixture.deliver(deliveryTo(1));
    fixture.accounts.put(webhookOf(1, { version: 2, headers: [{ key: 'X-A', sealed: 'new' }] }));
    if (place.kind === 'entered') place.leave();
    await delivered;
    expect(fixture.requests).toMatchObject([{ headers: [{ value: 'opened new' }] }]);
  });
});

describe('put off to the first tier, with no attempt counted', () => {
  const uncounted = { tier: '5s', due: NOW + 5 * SECOND, delivery: { attempts: 2, step: 2 } };
  const later = { attempts: 2, step: 2 };

  test('the line is full', async () => {
    for (let n = 0; n <= 2_000; n += 1) void fixture.gate.enter(...lineOf(1));
    await fixture.deliver(deliveryTo(1, later));
    expect(fixture.requests).toEqual([]);
    expect(fixture.waiting).toMatchObject([uncounted]);
    expect(fixture.log).toMatchObject([{ outcome: 'retrying', attempt: null }]);
    expect(fixture.log[0]?.nextAttemptAt).toBe(new Date(NOW + 5 * SECOND).toISOString());
  });

  test("another endpoint's line, or another account's, is not this one's", async () => {
    for (let n = 0; n <= 2_000; n += 1) void fixture.gate.enter(43, webhookOf(1).endpoint);
    for (let n = 0; n <= 2_000; n += 1) void fixture.gate.enter(...lineOf(2));
    await fixture.deliver(deliveryTo(1));
    expect(fixture.log).toMatchObject([{ outcome: 'delivered' }]);
  });

  test('the service stops during the attempt', async () => {
    const { waiting, log } = await attempted(INTERRUPTED, later);
    expect(waiting).toMatchObject([uncounted]);
    expect(log).toMatchObject([{ outcome: 'retrying', attempt: null }]);
  });

  test('the service stops while it waits in the line', async () => {
    await fixture.gate.enter(...lineOf(1));
    const delivered = fixture.deliver(deliveryTo(1, later));
    fixture.gate.close();
    await delivered;
    expect(fixture.waiting).toMatchObject([uncounted]);
  });

  test('no secret can be opened: nothing goes out unsigned', async () => {
    fixture.secrets = () => Promise.reject(new Error('no secret'));
    await fixture.deliver(deliveryTo(1, later));
    expect(fixture.requests).toEqual([]);
    expect(fixture.waiting).toMatchObject([uncounted]);
    expect(fixture.logger.errors).toHaveLength(1);
  });
});

describe('the place in the endpoint gate', () => {
  test.each([
    ['delivered', DELIVERED],
    ['failed', failedWith(500)],
    ['gone', GONE],
  ])('is left after an attempt that was %s', async (_, result) => {
    await attempted(result);
    await attempted(result);
    expect(fixture.requests).toHaveLength(2);
  });

  test('is kept until what follows from the attempt is durable', async () => {
    fixture.broker.failing.add('webhooks.deliveries');
    const delivered = fixture.deliver(deliveryTo(1));
    const second = fixture.gate.enter(...lineOf(1)).then(() => fixture.broker.topics);
    await eventually(() => fixture.broker.refused > 0);
    fixture.broker.failing.clear();
    await delivered;
    expect(await second).toEqual(['webhooks.deliveries']);
  });
});

/** The key of the line in which deliveries to a webhook wait. */
function lineOf(webhookId: number): [accountId: number, url: string] {
  return [ACCOUNT, webhookOf(webhookId).endpoint];
}

/** Takes a delivery from tier to tier until none is left. */
async function untilItEnds(used: DeliverFixture, answer: (attempts: number) => AttemptResult) {
  const waits: string[] = [];
  used.accounts.put(webhookOf(1));
  for (let delivery: Delivery | undefined = deliveryTo(1); delivery; ) {
    const { attempts }: Delivery = delivery;
    used.answer = () => answer(attempts);
    await used.deliver(delivery);
    const next: Waiting | undefined = used.waiting.find((waiting) => waiting.delivery.attempts === attempts + 1);
    if (next) waits.push(next.tier);
    delivery = next?.delivery;
  }
  expect(tiersOf(used).sort()).toEqual([...waits].sort());
  return { waits, used };
}
