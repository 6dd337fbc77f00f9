/** A retry record may be handed out twice, as after a crash between its next one and the commit: that makes no second chain. */
import { type Delivery, newDelivery } from '../../src/delivery/delivery.js';
import type { Deliver } from '../../src/delivery/delivery-attempt.js';
import { createDeliver } from '../../src/delivery/delivery-attempt.js';
import { eachStepOnce } from '../../src/delivery/steps-once.js';
import { eventually } from '../support/clocks/eventually.js';
import { deliveriesIn } from '../support/generators/bundles.js';
import { EVENT, failedWith, named, paymentRecord, received } from '../support/generators/delivery-samples.js';
import { DeliverFixture, OWN, SCHEDULE } from '../support/scenes/deliver-fixture.js';
import { webhookOf } from '../support/scenes/fake-accounts.js';

const ATTEMPTS = 1 + SCHEDULE.length;
/** Of chains that go on and on. */
const MOST_STEPS = 100;

let fixture: DeliverFixture;
/** As a process that has just begun has it: first attempts come from the payment's own record. */
let newProcess: () => Deliver;
beforeEach(() => {
  fixture = new DeliverFixture();
  fixture.accounts.put(webhookOf(1));
  fixture.answer = () => failedWith(503);
  newProcess = () => {
    const deliver = createDeliver(fixture.parts);
    const retry = eachStepOnce(deliver);
    return (delivery, hold) => (delivery.attempts === 0 ? deliver(delivery, hold) : retry(delivery, hold));
  };
});

const first = (offset = 7) => newDelivery(EVENT, named(1), received(paymentRecord(), { offset }));
const retryOf = (delivery: Delivery, changes: Partial<Delivery> = {}): Delivery => ({
  ...delivery,
  ...{ attempts: 1, step: 1, ...changes },
});

/** What waits in tiers, as it comes back from them. */
function waiting(): Delivery[] {
  const tiers = fixture.broker.topics.filter((topic) => fixture.topics.isTier(topic));
  const records = tiers.flatMap((topic) => fixture.broker.of(topic));
  return records.flatMap(deliveriesIn);
}

/** Hands one record out twice: in one process, or once in one that ends then. */
type Twice = (deliver: Deliver, delivery: Delivery) => Promise<Deliver>;

const TWICE: Readonly<Record<string, Twice>> = {
  'at once': async (deliver, delivery) => {
    await Promise.all([deliver(delivery, OWN), deliver(delivery, OWN)]);
    return deliver;
  },
  'one after the other': async (deliver, delivery) => {
    await deliver(delivery, OWN);
    await deliver(delivery, OWN);
    return deliver;
  },
  'before a crash and after the restart': async (deliver, delivery) => {
    await deliver(delivery, OWN);
    const next = newProcess();
    await next(delivery, OWN);
    return next;
  },
};

/** A delivery that always fails, to its end; the step of that number is handed out twice. */
async function lived(doubled: number, twice: Twice): Promise<void> {
  let deliver = newProcess();
  const handed = new Map<string, number>();
  const queue = [first()];
  for (let step = 0; queue.length > 0 && step < MOST_STEPS; step += 1) {
    const delivery = queue.shift() as Delivery;
    if (step === doubled) deliver = await twice(deliver, delivery);
    else await deliver(delivery, OWN);
    const came = new Map<string, number>();
    for (const next of waiting()) {
      const key = `${next.attempts} ${next.deferrals}`;
      came.set(key, (came.get(key) ?? 0) + 1);
      if ((came.get(key) ?? 0) > (handed.get(key) ?? 0)) queue.push(next);
    }
    for (const [key, count] of came) handed.set(key, count);
  }
  expect(queue).toEqual([]);
}

describe('a delivery whose every attempt fails', () => {
  const steps = Array.from({ length: ATTEMPTS }, (_, step) => step);
  test.each(Object.entries(TWICE).flatMap(([how, twice]) => steps.map((step) => ({ how, step, twice }))))(
    'has at most one attempt more where step $step is handed out twice, $how',
    async ({ step, twice }) => {
      await lived(step, twice);
      expect(fixture.requests.length).toBeGreaterThanOrEqual(ATTEMPTS);
      expect(fixture.requests.length).toBeLessThanOrEqual(ATTEMPTS + 1);
    },
  );
});

describe('a step', () => {
  test('that comes again while it is under way is not queued twice', async () => {
    let answer: () => void = () => undefined;
    fixture.answer = () =>
      new Promise((resolve) => {
        answer = () => resolve(failedWith(500));
      });
    const deliver = newProcess();
    const both = Promise.all([deliver(retryOf(first()), OWN), deliver(retryOf(first()), OWN)]);
    await eventually(() => fixture.requests.length === 1);
    expect(fixture.scheduler.endpoints.waiting).toBe(0);
    answer();
    await both;
    expect([fixture.requests.length, waiting().length]).toEqual([1, 1]);
  });

  test.each([
    ['of a request', retryOf(first(), { chain: 5 })],
    ['of another publication of the event', retryOf(first(8))],
    ['of another webhook', retryOf(newDelivery(EVENT, named(2), received(paymentRecord())))],
  ])('is another one: %s', async (_, other) => {
    fixture.accounts.put(webhookOf(2));
    const deliver = newProcess();
    await deliver(retryOf(first()), OWN);
    await deliver(other, OWN);
    expect(fixture.requests).toHaveLength(2);
  });

  /** A crash while an earlier record of the tier is under way: all records behind it come again. */
  const comeAgain = (count: number) => Array.from({ length: count }, (_, deferrals) => retryOf(first(), { deferrals }));

  test('that was deferred many times is one attempt after a crash, one after the other and at once', async () => {
    const deliver = newProcess();
    for (const delivery of comeAgain(9)) await deliver(delivery, OWN);
    expect(fixture.requests).toHaveLength(1);
    const other = newProcess();
    await Promise.all(comeAgain(9).map((delivery) => other(delivery, OWN)));
    expect(fixture.requests).toHaveLength(2);
  });

  test('stays one attempt, however many steps of another account come between its copies', async () => {
    const deliver = eachStepOnce(async (delivery) => {
      if (delivery.accountId === 42) fixture.requests.push({ id: delivery.id } as never);
      return true;
    });
    await deliver(retryOf(first()), OWN);
    const other = { ...retryOf(first()), accountId: 43 };
    for (let n = 0; n < 50_000; n += 1) await deliver({ ...other, id: `msg_${n}` }, OWN);
    await deliver(retryOf(first()), OWN);
    expect(fixture.requests).toHaveLength(1);
  });

  test('is another one after it was deferred', async () => {
    const deliver = newProcess();
    fixture.scheduler.close();
    const deferred = retryOf(first());
    await deliver(deferred, OWN);
    await deliver(deferred, OWN);
    expect(waiting()).toHaveLength(1);
    await deliver({ ...deferred, deferrals: 1 }, OWN);
    expect(waiting()).toHaveLength(2);
  });
});
