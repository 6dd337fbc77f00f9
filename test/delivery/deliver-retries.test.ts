import type { AttemptResult } from '../../src/delivery/attempt/attempt.js';
import { type Delivery, deliveryIn } from '../../src/delivery/delivery.js';
import { DeliverFixture, type Waiting } from '../support/deliver-fixture.js';
import { deliveryTo, failedWith, NOW, paymentRecord, TIMED_OUT } from '../support/delivery-samples.js';
import { webhookOf } from '../support/fake-accounts.js';

const SECOND = 1_000;

let fixture: DeliverFixture;
beforeEach(() => {
  fixture = new DeliverFixture();
  fixture.accounts.put(webhookOf(1));
});

describe('an attempt that failed', () => {
  test.each([
    ['status 500', failedWith(500)],
    ['status 301', failedWith(301)],
    ['status 404', failedWith(404)],
    ['a timeout', TIMED_OUT],
  ])('%s: waits in the first tier, with the attempt counted and logged', async (_, result) => {
    const { log, waiting, deadLetters } = await fixture.attempted(result);
    expect(waiting).toMatchObject([{ tier: '5s', due: NOW + 5 * SECOND, delivery: { attempts: 1, step: 1 } }]);
    const { status, error } = result;
    expect(log).toMatchObject([{ outcome: 'retrying', attempt: { status, error } }]);
    expect(log[0]?.nextAttemptAt).toBe(new Date(NOW + 5 * SECOND).toISOString());
    expect(deadLetters).toEqual([]);
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
      const { log, waiting, deadLetters } = await fixture.attempted(failedWith(502), { step, attempts: attempts - 1 });
      expect(waiting).toEqual([]);
      expect(log).toMatchObject([{ outcome: 'exhausted', attempt: { status: 502 }, nextAttemptAt: null }]);
      expect(deadLetters).toMatchObject([{ key: paymentRecord().key, value: paymentRecord().value }]);
      const headers = Object.fromEntries(deadLetters[0]?.headers.map(([name, value]) => [name, String(value)]) ?? []);
      expect(headers).toMatchObject({
        'aw-reason': 'exhausted',
        'aw-detail': 'status 502',
        traceparent: '00-ab-cd-01',
      });
      expect(deadLetters.map((letter) => deliveryIn(letter))).toMatchObject([{ webhookId: 1, attempts }]);
    },
  );
});

/** Takes a delivery from tier to tier until none is left. */
async function untilItEnds(used: DeliverFixture, answer: (attempts: number) => AttemptResult) {
  const waits: string[] = [];
  used.accounts.put(webhookOf(1));
  for (let delivery: Delivery | undefined = deliveryTo(1); delivery; ) {
    const { attempts }: Delivery = delivery;
    used.answer = () => answer(attempts);
    let isDone = false;
    const delivered = used.deliver(delivery).then(() => {
      isDone = true;
    });
    for (let turns = 0; !isDone && turns < 100; turns += 1) await new Promise(setImmediate);
    // A URL that asked for a pause has its pause.
    if (!isDone) await used.clock.goOn(60 * SECOND);
    await delivered;
    const next: Waiting | undefined = used.waiting.find((waiting) => waiting.delivery.attempts === attempts + 1);
    if (next) waits.push(next.tier);
    delivery = next?.delivery;
  }
  expect(used.waiting.map(({ tier }) => tier).sort()).toEqual([...waits].sort());
  return { waits, used };
}
