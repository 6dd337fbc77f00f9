import { CircuitBreakers } from '../../src/delivery/isolation/circuit-breaker.js';
import { lifetimeMs } from '../../src/delivery/retry/retry-schedule.js';
import { eventually } from '../support/clocks/eventually.js';
import { testScheduler } from '../support/clocks/test-scheduler.js';
import { DELIVERED, deliveryTo, failedWith, GONE, INTERRUPTED, NOW } from '../support/generators/delivery-samples.js';
import { DeliverFixture, lineOf, SCHEDULE } from '../support/scenes/deliver-fixture.js';
import { webhookOf } from '../support/scenes/fake-accounts.js';

const SECOND = 1_000;
/** Until the last moment within 5 s of NOW at which deliveries of this account return. */
const FIRST_TIER_MS = 4_946;

let fixture: DeliverFixture;
beforeEach(() => {
  fixture = new DeliverFixture();
  fixture.accounts.put(webhookOf(1));
});

describe('deferred to the first tier, with no attempt counted', () => {
  const uncounted = { tier: 'deferred.5s', due: NOW + FIRST_TIER_MS, delivery: { attempts: 2, step: 2 } };
  const later = { attempts: 2, step: 2 };

  test('is what finds the queue full', async () => {
    for (let n = 0; n <= 3_000; n += 1) void fixture.scheduler.acquire(...lineOf(1));
    await fixture.deliver(deliveryTo(1, later));
    expect(fixture.requests).toEqual([]);
    expect(fixture.waiting).toMatchObject([uncounted]);
    expect(fixture.log).toMatchObject([{ outcome: 'retrying', attempt: null }]);
    expect(fixture.log).toMatchObject([{ nextAttemptAt: null, waitingFor: 'queue' }]);
  });

  test('is what has an endpoint that keeps failing; where that was noted for long, to a longer tier', async () => {
    const breakers = new CircuitBreakers({ now: () => 0, random: () => 0 });
    fixture = new DeliverFixture({ scheduler: testScheduler({ breakers }) });
    fixture.accounts.put(webhookOf(1));
    const since = new Date(NOW - 6 * 3_600 * SECOND).toISOString();
    fixture.accounts.failing = [{ endpoint: webhookOf(1).endpoint, since }];
    fixture.answer = () => failedWith(500);
    for (let n = 0; n < 10; n += 1) await fixture.deliver(deliveryTo(1));
    fixture.broker.forget();
    await fixture.deliver(deliveryTo(1, later));
    expect(fixture.requests).toHaveLength(10);
    expect(fixture.waiting).toMatchObject([
      { tier: 'deferred.30m', delivery: { ...uncounted.delivery, deferrals: 1 } },
    ]);
    expect(fixture.log).toMatchObject([{ outcome: 'retrying', attempt: null, waitingFor: 'endpoint-failing' }]);
  });

  test('is what is under way while the service stops', async () => {
    const { waiting, log } = await fixture.attempted(INTERRUPTED, later);
    expect(waiting).toMatchObject([uncounted]);
    expect(log).toMatchObject([{ outcome: 'retrying', attempt: null }]);
  });

  test('is what no secret can be opened for: nothing goes out unsigned', async () => {
    fixture.secrets = () => Promise.reject(new Error('no secret'));
    await fixture.deliver(deliveryTo(1, later));
    expect(fixture.requests).toEqual([]);
    expect(fixture.waiting).toMatchObject([uncounted]);
    expect(fixture.logger.errors).toHaveLength(1);
  });
});

test.each([
  ['as its endpoint is noted to fail', 3_600 * SECOND, new Date(NOW - 3_600 * SECOND).toISOString()],
  ['since it was deferred first, where that is not noted', 40 * SECOND, null],
])('the scheduler is told for how long a delivery waits: %s', async (_, awayMs, since) => {
  const asked = jest.fn();
  const acquire = async (...given: unknown[]) => asked(...given) ?? { kind: 'deferred', why: 'queue', pausedMs: 0 };
  fixture = new DeliverFixture({ scheduler: { acquire } as never });
  fixture.accounts.put(webhookOf(1));
  if (since) fixture.accounts.failing = [{ endpoint: webhookOf(1).endpoint, since }];
  await fixture.deliver(deliveryTo(1, { usedMs: 50 * SECOND, deferredFrom: 10 * SECOND }));
  expect(asked).toHaveBeenCalledWith(...lineOf(1), expect.objectContaining({ awayMs }));
});

/** An attempt to its endpoint has failed, and another one is in flight. */
async function failing(): Promise<void> {
  const slot = await fixture.scheduler.acquire(...lineOf(1));
  if (slot.kind === 'acquired') slot.ended({ signal: 'failed' });
  await fixture.scheduler.acquire(...lineOf(1));
}

describe('a delivery that is queued for five seconds at a failing endpoint, of the minute that it has left', () => {
  const late = { usedMs: lifetimeMs(SCHEDULE, 15_000) - 60 * SECOND };

  test.each([
    ['the clock stands still', 0],
    ['the clock jumps an hour forward', 3_600 * SECOND],
    ['the clock jumps an hour back', -3_600 * SECOND],
  ])('is deferred, and has used five seconds more and its tier: %s', async (_, jump) => {
    let now = NOW;
    fixture = new DeliverFixture({ now: () => now });
    fixture.accounts.put(webhookOf(1));
    await failing();
    const deferred = fixture.deliver(deliveryTo(1, late));
    now += jump;
    await fixture.clock.goOn(5 * SECOND);
    await deferred;
    const usedMs = late.usedMs + 5 * SECOND + FIRST_TIER_MS;
    expect(fixture.waiting).toMatchObject([{ tier: 'deferred.5s', due: now + FIRST_TIER_MS, delivery: { usedMs } }]);
  });

  test('is exhausted if the minute has passed', async () => {
    await failing();
    const ended = fixture.deliver(deliveryTo(1, { usedMs: late.usedMs + 55 * SECOND }));
    await fixture.clock.goOn(5 * SECOND);
    await ended;
    expect(fixture.log).toMatchObject([{ outcome: 'exhausted' }]);
  });
});

describe('the slot at its endpoint', () => {
  test.each([
    ['delivered', DELIVERED],
    ['failed', failedWith(500)],
    ['gone', GONE],
  ])('is left after an attempt that was %s', async (_, result) => {
    await fixture.attempted(result);
    await fixture.attempted(result);
    expect(fixture.requests).toHaveLength(2);
  });

  test('is left once the attempt has ended, before its result is durable', async () => {
    fixture.broker.failing.add('webhooks.deliveries');
    const delivered = fixture.deliver(deliveryTo(1));
    await fixture.scheduler.acquire(...lineOf(1));
    expect(fixture.broker.topics).toEqual([]);
    await eventually(() => fixture.broker.refused > 0);
    fixture.broker.failing.clear();
    await delivered;
    expect(fixture.broker.topics).toEqual(['webhooks.deliveries']);
  });
});
