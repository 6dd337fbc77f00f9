import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import type { Attempt } from '../../src/delivery/attempt.js';
import { readDeadLetter } from '../../src/delivery/dead-letters.js';
import { fromRetryRecord } from '../../src/delivery/delivery.js';
import { EndpointGate } from '../../src/delivery/endpoint-gate.js';
import { headerText, type NewRecord, type ReceivedRecord } from '../../src/ports/broker.js';
import { ACCOUNT, header } from '../support/delivery-samples.js';
import { type DispatcherFixture, openInstallation } from '../support/dispatcher-fixture.js';
import { eventually } from '../support/eventually.js';
import { POISON, payment, paymentOfSize, payments } from '../support/poison.js';
import { type ReceivedRequest, type Receiver, type ReceiverOptions, startReceiver } from '../support/receiver.js';
import { temporaryDirectory } from '../support/temporary-directory.js';

const DEAD_LETTERS = 'webhooks.dead-letter';

let directory: ReturnType<typeof temporaryDirectory>;
let installation: DispatcherFixture;
let secret: string;
const cleanups: (() => Promise<void>)[] = [];

beforeEach(async () => {
  directory = temporaryDirectory();
  installation = await openInstallation(directory.path);
  secret = await installation.account(ACCOUNT);
});

afterEach(async () => {
  await installation.close();
  for (const cleanUp of cleanups.splice(0).reverse()) await cleanUp();
  directory.remove();
});

async function receiver(options: ReceiverOptions = {}): Promise<Receiver> {
  const started = await startReceiver(options);
  cleanups.push(started.close);
  return started;
}

/** A receiver that is webhook `id` of the account. */
async function webhook(id: number, options: ReceiverOptions = {}): Promise<Receiver> {
  const started = await receiver(options);
  await installation.webhook({ id, accountId: ACCOUNT, url: `${started.url}/in` });
  return started;
}

async function restart(): Promise<void> {
  await installation.close();
  installation = await openInstallation(directory.path);
}

const eventId = ({ body }: ReceivedRequest) => (JSON.parse(body.toString()) as { id: string }).id;
const eventIds = ({ requests }: Receiver) => requests.map(eventId);
const webhookId = ({ headers }: ReceivedRequest) => String(headers['webhook-id']);

describe('records that are not payment events', () => {
  test('every kind, each between good ones: the good arrive, the bad are dead letters as they came', async () => {
    const { requests } = await webhook(1);
    await installation.dispatch();
    const mixed = POISON.flatMap(({ record }, index) => [payment(`good-${index}`), record]);
    await installation.publish(...mixed, paymentOfSize(256 * 1024));
    await eventually(() => requests.length === POISON.length + 1);
    const letters = await eventually(async () => {
      const found = await installation.browse(DEAD_LETTERS);
      return found.length >= POISON.length && found.sort((one, other) => traceOf(one) - traceOf(other));
    });
    expect(requests.map(eventId).sort()).toEqual([...POISON.map((_, index) => `good-${index}`), 'big'].sort());
    const badOnes = (await installation.browse('payment-events')).filter((_, index) => index % 2 === 1);
    expect(letters.map(toldOf)).toEqual(
      POISON.map(({ reason: detail }, index) => ({ reason: 'not-valid', detail, source: placeOf(badOnes[index]) })),
    );
    expect(letters.map(({ key, value, headers: [first] }) => ({ key, value, headers: [first] }))).toEqual(
      POISON.map(({ record }) => record),
    );
  });

  const traceOf = (record: NewRecord) => Number(headerText(record, 'traceparent')?.slice(3));
  const placeOf = (record?: ReceivedRecord) => `${record?.topic}/${record?.partition}/${record?.offset}`;
  const toldOf = (letter: ReceivedRecord) => {
    const { reason, detail, source } = readDeadLetter(letter);
    return { reason, detail, source };
  };

  test('an account that is unknown, or has no URL for the type: done, silently, and a missing key is no fault', async () => {
    const good = await webhook(1);
    await installation.dispatch();
    const unknown = payment('unknown', { accountId: 43 });
    const silent = [unknown, payment('no-url', { type: 'med_created' }), payment('negative', { accountId: -1 })];
    await installation.publish(...silent, { key: null, value: Buffer.from(payment('no-key')), headers: [] });
    await eventually(async () => (await installation.deliveries(ACCOUNT)).length === 1);
    await restart();
    await installation.dispatch();
    await installation.publish(payment('after'));
    await eventually(async () => (await installation.deliveries(ACCOUNT)).length === 2);
    expect(eventIds(good)).toEqual(['no-key', 'after']);
    expect(await installation.browse(DEAD_LETTERS)).toEqual([]);
    expect(await installation.browse('webhooks.deliveries')).toHaveLength(2);
  });

  test('a record of a tier that is none of ours is a dead letter, and holds nobody behind it', async () => {
    const good = await webhook(1, { respond: () => ({ status: good.requests.length === 1 ? 500 : 200 }) });
    await installation.broker.publish('webhooks.retry.50ms', [
      { key: null, value: Buffer.from('who put me here?'), headers: [header('aw-due', '9999999999999')] },
    ]);
    await installation.dispatch({ schedule: [{ text: '50ms', ms: 50 }] });
    await installation.publish(payment('evt'));
    await eventually(() => good.requests.length === 2);
    const letters = await eventually(async () => {
      const found = await installation.browse(DEAD_LETTERS);
      return found.length > 0 && found;
    });
    const [foreign] = await installation.browse('webhooks.retry.50ms');
    expect(letters.map(toldOf)).toEqual([
      { reason: 'not-valid', detail: 'the record is not a retry record', source: placeOf(foreign) },
    ]);
  });
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
    const { url, requests } = await receiver();
    await installation.webhook({ id: 1, accountId: ACCOUNT, url: `${url}/in?x=%20&y`, headers: own });
    await installation.dispatch();
    await installation.publish(...bodies);
    await eventually(() => requests.length === bodies.length);
    expect(requests.map(({ body }) => body.toString()).sort()).toEqual([...bodies].sort());
    for (const { body, headers, rawHeaders, path } of requests) {
      new StandardWebhook(secret).verify(body.toString(), headers as Record<string, string>);
      const from = rawHeaders.indexOf('X-MiXed-Case');
      expect(rawHeaders.slice(from, from + 6)).toEqual(own.flatMap(({ key, value }) => [key, value]));
      expect(path).toBe('/in?x=%20&y');
    }
  });

  test('a retry is the same bytes under the same webhook-id, signed anew, and not before it is due', async () => {
    const { requests } = await webhook(1, { respond: () => ({ status: requests.length === 1 ? 500 : 200 }) });
    await installation.dispatch({ schedule: [{ text: '50ms', ms: 50 }] });
    await installation.publish(bodies[0] ?? '');
    await eventually(() => requests.length === 2);
    const [first, second] = requests as [ReceivedRequest, ReceivedRequest];
    expect(webhookId(second)).toBe(webhookId(first));
    expect(second.at - first.at).toBeGreaterThanOrEqual(50);
    for (const { body, headers } of requests) {
      expect(body.toString()).toBe(bodies[0]);
      new StandardWebhook(secret).verify(body.toString(), headers as Record<string, string>);
    }
  });

  test('an endpoint that answers 410 gets nothing more: its webhook is inactive', async () => {
    const gone = await webhook(1, { respond: () => ({ status: 410 }) });
    const healthy = await webhook(2);
    await installation.dispatch();
    await installation.publish(payment('first'));
    await eventually(() => installation.accounts.webhook(ACCOUNT, 1)?.isActive === false);
    await installation.publish(payment('second'));
    await eventually(() => healthy.requests.length === 2);
    expect(eventIds(gone)).toEqual(['first']);
  });
});

describe('one URL that hangs', () => {
  test('300 events reach the two others without a tier; its own go to the first tier', async () => {
    const healthy = [await webhook(1), await webhook(2)];
    const hanging = await webhook(3, { respond: () => 'hang' });
    const all = payments(300);
    const held = { until: eventually(() => healthy.every(({ requests }) => requests.length === all.length)) };
    const gate = new EndpointGate({ total: 60, perEndpoint: 30 });
    await installation.dispatch({ gate, attempt: await hangingLonger(hanging.url, held) });
    await installation.publish(...all);
    await held.until;
    const waiting = await eventually(async () => {
      const records = await installation.browse('webhooks.retry.1h');
      return records.length >= all.length && records.map(fromRetryRecord);
    });
    expect(new Set(waiting.map((delivery) => `${delivery?.webhookId} ${delivery?.attempts}`))).toEqual(
      new Set(['3 1']),
    );
    expect(new Set(waiting.map((delivery) => delivery?.eventId)).size).toBe(all.length);
    for (const { requests } of healthy) expect(new Set(requests.map(webhookId)).size).toBe(all.length);
    const outcomes = (await installation.deliveries(ACCOUNT)).map(({ webhookId: id, outcome }) => `${id} ${outcome}`);
    expect(new Set(outcomes)).toEqual(new Set(['1 delivered', '2 delivered', '3 retrying']));
  });

  /** Attempts on the hanging URL hold their places `until` the moment given, and then time out quickly. */
  async function hangingLonger(url: string, { until }: { until: Promise<unknown> }): Promise<Attempt> {
    const [patient, hasty] = [await installation.attempt(15_000), await installation.attempt(50)];
    return async (request) => {
      if (!request.url.startsWith(url)) return patient(request);
      await until;
      return hasty(request);
    };
  }
});

describe('stop and start', () => {
  test('under load: ends within its drain, and nothing that was done is sent again', async () => {
    let hangs = true;
    const fast = await webhook(1);
    const slow = await webhook(2, { respond: () => (hangs ? 'hang' : { status: 200 }) });
    const schedule = [{ text: '10ms', ms: 10 }];
    const dispatcher = await installation.dispatch({ schedule, drainMs: 20 });
    await installation.publish(...payments(200));
    await eventually(() => fast.requests.length > 20 && slow.requests.length > 0);
    const began = performance.now();
    await dispatcher.close();
    await dispatcher.closed;
    expect(performance.now() - began).toBeLessThan(4_000); // 20 ms and no 5 s, nor the 15 s of an attempt
    const done = (await installation.deliveries(ACCOUNT)).filter(({ outcome }) => outcome === 'delivered');
    expect(done.length).toBeGreaterThan(0);
    await restart();
    hangs = false;
    const before = new Set([...fast.requests, ...slow.requests]);
    await installation.dispatch({ schedule });
    await eventually(async () => {
      const deliveries = await installation.deliveries(ACCOUNT);
      return deliveries.length === 400 && deliveries.every(({ outcome }) => outcome === 'delivered');
    });
    const again = [...fast.requests, ...slow.requests].filter((request) => !before.has(request));
    const doneIds = new Set(done.map(({ id }) => id));
    expect(again.map(webhookId).filter((id) => doneIds.has(id))).toEqual([]);
    for (const { attempts } of await installation.deliveries(ACCOUNT)) expect(attempts).toHaveLength(1);
  });

  test('what waits in a tier of an earlier schedule is still delivered, with its webhook-id', async () => {
    let hangs = true;
    const { requests } = await webhook(1, { respond: () => (hangs ? 'hang' : { status: 200 }) });
    await installation.dispatch({ schedule: [{ text: '7ms', ms: 7 }] });
    await installation.publish(payment('evt'));
    await eventually(() => requests.length === 1);
    await restart();
    expect(await installation.browse('webhooks.retry.7ms')).toHaveLength(1);
    hangs = false;
    await installation.dispatch({ schedule: [{ text: '1h', ms: 3_600_000 }] });
    await eventually(() => requests.length === 2);
    expect(new Set(requests.map(webhookId)).size).toBe(1);
  });

  test('what is published while it is down is delivered when it is up, in one copy', async () => {
    const { requests } = await webhook(1);
    await installation.dispatch();
    await installation.publish(payment('before'));
    await eventually(async () => (await installation.deliveries(ACCOUNT)).length === 1);
    await restart();
    await installation.publish(...payments(20, 'down-'));
    await installation.dispatch();
    await eventually(async () => (await installation.deliveries(ACCOUNT)).length === 21);
    expect(new Set(requests.map(eventId)).size).toBe(21);
    expect(requests).toHaveLength(21);
  });
});
