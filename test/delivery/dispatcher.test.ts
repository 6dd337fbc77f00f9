import { Webhook as StandardWebhook } from 'standardwebhooks';
import type { Attempt } from '../../src/delivery/attempt/attempt.js';
import { fromRetryRecord } from '../../src/delivery/delivery.js';
import { createProcessClock } from '../../src/time/process-clock.js';
import { AccountFixture, eventIds, webhookId } from '../support/account-fixture.js';
import { AttemptFixture } from '../support/attempt-fixture.js';
import { ACCOUNT } from '../support/delivery-samples.js';
import { eventually } from '../support/eventually.js';
import { payment, payments } from '../support/poison.js';
import type { ReceivedRequest } from '../support/receiver.js';
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

describe('what arrives', () => {
  const bodies = [
    `{"id":"a","type":"cash_in","accountId":42,"data":{"amount":10.10,"rate":1e2,"huge":12345678901234567890.10}}`,
    ` {\t"id" : "b",\r\n "type":"cash_in","accountId":42.0, "type":"cash_in" } \n`,
    `{"id":"\\u0063","type":"cash\\u005fin","accountId":4.2e1,"data":"\\u00e9 é \\ud83d\\ude00 😀 \\/"}`,
  ];

  test("is the record's bytes, verbatim and signed, with the webhook's own headers in name and value", async () => {
    const own = [
      { key: 'X-MiXed-Case', value: 'a  b' },
      { key: 'authorization', value: 'Bearer abc==' },
      { key: 'X-Empty', value: '' },
    ];
    const { url, requests } = await fixture.receiver();
    await fixture.installation.webhook({ id: 1, accountId: ACCOUNT, url: `${url}/in?x=%20&y`, headers: own });
    await fixture.installation.dispatch();
    await fixture.installation.publish(...bodies);
    await eventually(() => requests.length === bodies.length);
    expect(requests.map(({ body }) => body.toString()).sort()).toEqual([...bodies].sort());
    for (const { body, headers, rawHeaders, path } of requests) {
      new StandardWebhook(fixture.secret).verify(body.toString(), headers as Record<string, string>);
      const from = rawHeaders.indexOf('X-MiXed-Case');
      expect(rawHeaders.slice(from, from + 6)).toEqual(own.flatMap(({ key, value }) => [key, value]));
      expect(path).toBe('/in?x=%20&y');
    }
  });

  test('a retry is the same bytes under the same webhook-id, signed anew, and not before it is due', async () => {
    const { requests } = await fixture.webhook(1, { respond: () => ({ status: requests.length === 1 ? 500 : 200 }) });
    await fixture.installation.dispatch({ schedule: [{ text: '50ms', ms: 50 }] });
    await fixture.installation.publish(bodies[0] ?? '');
    await eventually(() => requests.length === 2);
    const [first, second] = requests as [ReceivedRequest, ReceivedRequest];
    expect(webhookId(second)).toBe(webhookId(first));
    expect(second.at - first.at).toBeGreaterThanOrEqual(50);
    for (const { body, headers } of requests) {
      expect(body.toString()).toBe(bodies[0]);
      new StandardWebhook(fixture.secret).verify(body.toString(), headers as Record<string, string>);
    }
  });

  test('an endpoint that answers 410 gets nothing more: its webhook is inactive', async () => {
    const gone = await fixture.webhook(1, { respond: () => ({ status: 410 }) });
    const healthy = await fixture.webhook(2);
    await fixture.installation.dispatch();
    await fixture.installation.publish(payment('first'));
    await eventually(() => fixture.installation.accounts.webhook(ACCOUNT, 1)?.isActive === false);
    await fixture.installation.publish(payment('second'));
    await eventually(() => healthy.requests.length === 2);
    expect(eventIds(gone)).toEqual(['first']);
  });
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
