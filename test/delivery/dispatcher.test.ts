import type { Attempt } from '../../src/delivery/attempt/attempt.js';
import { fromRetryRecord } from '../../src/delivery/delivery.js';
import { createProcessClock } from '../../src/time/process-clock.js';
import { AccountFixture, webhookId } from '../support/account-fixture.js';
import { AttemptFixture } from '../support/attempt-fixture.js';
import { ACCOUNT } from '../support/delivery-samples.js';
import { eventually } from '../support/eventually.js';
import { payments } from '../support/poison.js';
import { testScheduler } from '../support/test-scheduler.js';

const receivers = new AttemptFixture();
let fixture: AccountFixture;
beforeEach(async () => {
  fixture = await AccountFixture.open();
});
afterEach(async () => {
  await fixture.close();
  await receivers.close();
});

test('a receiver that responds 200 and holds the body open has as many requests as its window, no more', async () => {
  let [open, most] = [0, 0];
  const receiver = await receivers.scripted((socket) => {
    open += 1;
    most = Math.max(most, open);
    socket.once('close', () => (open -= 1));
    socket.write('HTTP/1.1 200 OK\r\n\r\n: hello');
  });
  await fixture.installation.webhook({ id: 1, accountId: ACCOUNT, url: `https://localhost:${receiver.port}/` });
  await fixture.installation.dispatch({ scheduler: testScheduler({ perEndpoint: 1, clock: createProcessClock() }) });
  await fixture.installation.publish(...payments(3));
  await eventually(() => receiver.counts.requests === 3);
  expect(most).toBe(1);
  const outcomes = async () => (await fixture.installation.deliveries(ACCOUNT)).map(({ outcome }) => outcome);
  await eventually(async () => (await outcomes()).join() === 'delivered,delivered,delivered');
});

describe('one URL that hangs', () => {
  test('300 events reach the two others without a tier; its own are deferred or wait for a retry', async () => {
    const healthy = [await fixture.webhook(1), await fixture.webhook(2)];
    const hanging = await fixture.webhook(3, { respond: () => 'hang' });
    const all = payments(300);
    const held = { until: eventually(() => healthy.every(({ requests }) => requests.length === all.length)) };
    const scheduler = testScheduler({ slots: 60, perEndpoint: 30, clock: createProcessClock() });
    await fixture.installation.dispatch({ scheduler, attempt: await hangingLonger(hanging.url, held) });
    await fixture.installation.publish(...all);
    await held.until;
    const waiting = await eventually(async () => {
      const tiers = await Promise.all(
        ['webhooks.retry.1h', 'webhooks.deferred.5s'].map((tier) => fixture.installation.browse(tier)),
      );
      const deliveries = tiers.flat().map((record) => fromRetryRecord(record));
      return deliveries.length >= all.length && deliveries;
    });
    expect(new Set(waiting.map((delivery) => delivery?.webhookId))).toEqual(new Set([3]));
    expect(waiting.some((delivery) => delivery?.attempts === 1)).toBe(true);
    expect(new Set(waiting.map((delivery) => delivery?.eventId)).size).toBe(all.length);
    for (const { requests } of healthy) expect(new Set(requests.map(webhookId)).size).toBe(all.length);
    const outcomes = (await fixture.installation.deliveries(ACCOUNT)).map(
      ({ webhookId: id, outcome }) => `${id} ${outcome}`,
    );
    expect(new Set(outcomes)).toEqual(new Set(['1 delivered', '2 delivered', '3 retrying']));
  });

  /** Attempts on the hanging URL hold their places `until` the moment given, and then time out quickly. */
  async function hangingLonger(url: string, { until }: { until: Promise<unknown> }): Promise<Attempt> {
    const [patient, hasty] = [await fixture.installation.attempt(15_000), await fixture.installation.attempt(50)];
    return async (request) => {
      if (!request.url.startsWith(url)) return patient(request);
      await until;
      return hasty(request);
    };
  }
});
