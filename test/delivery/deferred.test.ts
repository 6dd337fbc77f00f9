import type { AttemptResult } from '../../src/delivery/attempt/attempt.js';
import { type Delivery, fromRetryRecord } from '../../src/delivery/delivery.js';
import { CircuitBreakers } from '../../src/delivery/isolation/circuit-breaker.js';
import { testScheduler } from '../support/clocks/test-scheduler.js';
import { DELIVERED, deliveryTo, failedWith, NOW } from '../support/generators/delivery-samples.js';
import { DeliverFixture } from '../support/scenes/deliver-fixture.js';
import { webhookOf } from '../support/scenes/fake-accounts.js';

const SECOND = 1_000;

let clock: number;
let fixture: DeliverFixture;
beforeEach(() => {
  clock = 0;
  const steady = { now: () => clock, random: () => 0 };
  fixture = new DeliverFixture({ scheduler: testScheduler({ breakers: new CircuitBreakers(steady) }) });
  fixture.accounts.put(webhookOf(1), webhookOf(2));
});

/** Deliveries to webhook 1, one after the other, each of whose attempts comes to this. */
async function attempted(result: AttemptResult, times: number): Promise<void> {
  fixture.answer = () => result;
  for (let n = 0; n < times; n += 1) await fixture.deliver(deliveryTo(1));
}

/** The last record of a tier, as it comes back from it. */
function lastOf(tier: string): Delivery {
  const record = fixture.broker.of(`webhooks.${tier}`).at(-1);
  const delivery = record && fromRetryRecord(record);
  if (!delivery) throw new Error(`nothing waits in ${tier}`);
  return delivery;
}

describe('while the breaker of its endpoint is open, a delivery', () => {
  beforeEach(() => attempted(failedWith(500), 10));

  test('goes to the first tier of deferred ones at once, with no attempt made or counted', async () => {
    const { requests } = fixture;
    await fixture.deliver(deliveryTo(1, { attempts: 2, step: 2 }));
    expect(fixture.requests).toHaveLength(requests.length);
    const due = NOW + 5 * SECOND;
    expect(fixture.waiting.filter(({ tier }) => tier.startsWith('deferred'))).toMatchObject([
      { tier: 'deferred.5s', due, delivery: { attempts: 2, step: 2, deferrals: 1 } },
    ]);
    const told = { outcome: 'retrying', attempt: null, nextAttemptAt: null, waitingFor: 'endpoint-failing' };
    expect(fixture.log.at(-1)).toMatchObject(told);
  });

  test('is made where the pause is over, and all others where that one was delivered', async () => {
    clock += 5 * SECOND;
    fixture.answer = () => DELIVERED;
    await fixture.deliver(deliveryTo(1));
    await fixture.deliver(deliveryTo(1));
    expect(fixture.log.slice(-2)).toMatchObject([{ outcome: 'delivered' }, { outcome: 'delivered' }]);
  });

  test('waits for longer where its URL is noted as failing for long', async () => {
    const since = new Date(NOW - 6 * 3_600_000).toISOString();
    fixture.accounts.failing = [{ endpoint: webhookOf(1).endpoint, since }] as never;
    await fixture.deliver(deliveryTo(1));
    expect(lastOf('deferred.30m')).toMatchObject({ deferrals: 1 });
  });
});
