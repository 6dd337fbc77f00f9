/** What a delivery tells the log and the metrics of each of its steps. */
import type { AttemptResult } from '../../src/delivery/attempt/attempt.js';
import { fromRetryRecord, newDelivery, toRetryRecord } from '../../src/delivery/delivery.js';
import { CircuitBreakers } from '../../src/delivery/isolation/circuit-breaker.js';
import { createLogger } from '../../src/observability/logger.js';
import type { DeliveryMetrics } from '../../src/observability/metrics.js';
import { DeliverFixture } from '../support/deliver-fixture.js';
import {
  ACCOUNT,
  DELIVERED,
  deliveryTo,
  EVENT,
  failedWith,
  GONE,
  header,
  INTERRUPTED,
  NOW,
  named,
  paymentRecord,
  received,
  TIMED_OUT,
} from '../support/delivery-samples.js';
import { webhookOf } from '../support/fake-accounts.js';
import { testScheduler } from '../support/test-scheduler.js';

interface Line {
  readonly level: number;
  readonly msg: string;
}

let lines: Line[];
let told: unknown[][];
let fixture: DeliverFixture;

const DEBUG = 20;
const WARN = 40;
const ERROR = 50;
const ABOUT = { accountId: ACCOUNT, webhookId: 1, eventId: EVENT.id, deliveryId: deliveryTo(1).id };

beforeEach(() => {
  lines = [];
  told = [];
  const logger = createLogger('debug', { write: (line: string) => void lines.push(JSON.parse(line) as Line) });
  fixture = new DeliverFixture({ logger, metrics: tellingMetrics() });
  fixture.accounts.put(webhookOf(1));
});

function tellingMetrics(): DeliveryMetrics {
  const tells =
    (name: string) =>
    (...args: unknown[]) =>
      void told.push([name, ...args]);
  return {
    attempted: ({ status, error, durationMs }) => void told.push(['attempted', status, error, durationMs]),
    connected: tells('connected'),
    came: tells('came'),
    deferred: tells('deferred'),
    delivered: tells('delivered'),
    deadLetter: tells('deadLetter'),
    superseded: tells('superseded'),
  };
}

const last = { attempts: 3, step: 3 };

test.each<[string, AttemptResult, object, unknown[][], object[]]>([
  [
    'delivered',
    DELIVERED,
    { publishedAt: NOW - 250 },
    [
      ['attempted', 200, null, 12],
      ['delivered', 250, false],
      ['came', 'delivered', 'cash_in'],
    ],
    [{ level: DEBUG, msg: 'a delivery ended', outcome: 'delivered', status: 200, durationMs: 12, attempts: 1 }],
  ],
  [
    'retrying',
    TIMED_OUT,
    {},
    [
      ['attempted', null, 'timeout', 12],
      ['came', 'retrying', 'cash_in'],
    ],
    [{ level: WARN, msg: 'an attempt failed', why: 'timeout', reason: 'waiting-for-headers', next: '5s' }],
  ],
  [
    'exhausted',
    failedWith(503),
    last,
    [
      ['attempted', 503, null, 12],
      ['came', 'exhausted', 'cash_in'],
      ['deadLetter', 'exhausted'],
    ],
    [
      { level: WARN, msg: 'a delivery is exhausted', why: 'status 503' },
      { level: DEBUG, msg: 'a delivery ended', outcome: 'exhausted', status: 503 },
    ],
  ],
  [
    'of a webhook that is switched off for it',
    GONE,
    {},
    [
      ['attempted', 410, null, 12],
      ['came', 'exhausted', 'cash_in'],
      ['deadLetter', 'deactivated'],
    ],
    [
      { level: WARN, msg: 'an endpoint answered 410 Gone' },
      { level: DEBUG, msg: 'a delivery ended', outcome: 'exhausted', status: 410 },
    ],
  ],
  [
    'deferred by the stop, which says nothing of the endpoint',
    INTERRUPTED,
    {},
    [
      ['came', 'deferred', 'cash_in'],
      ['deferred', 'stopping'],
    ],
    [{ level: DEBUG, msg: 'a delivery is deferred', why: 'stopping', next: 'deferred.5s' }],
  ],
  [
    'deferred by a standstill of this process, which says nothing of the endpoint',
    { ...INTERRUPTED, by: 'stall' } as AttemptResult,
    {},
    [
      ['came', 'deferred', 'cash_in'],
      ['deferred', 'stalled'],
    ],
    [{ level: DEBUG, msg: 'a delivery is deferred', why: 'stalled', next: 'deferred.5s' }],
  ],
])('%s', async (_, result, delivery, metrics, log) => {
  await fixture.attempted(result, delivery);
  expect(told).toEqual(metrics);
  expect(lines).toMatchObject(log.map((line) => ({ ...ABOUT, correlationId: ABOUT.deliveryId, ...line })));
});

test('what can not be prepared is deferred, and an error', async () => {
  fixture.secrets = () => Promise.reject(new Error('the key is another'));
  await fixture.attempted(DELIVERED);
  expect(told).toEqual([
    ['came', 'deferred', 'cash_in'],
    ['deferred', 'not-prepared'],
  ]);
  expect(lines).toMatchObject([
    { level: ERROR, ...ABOUT },
    { level: DEBUG, why: 'not-prepared' },
  ]);
});

test('at a breaker that is open it is deferred, and no attempt is counted', async () => {
  const clock = { now: () => 0, random: () => 0 };
  const scheduler = testScheduler({ breakers: new CircuitBreakers(clock) });
  fixture = new DeliverFixture({ scheduler, metrics: tellingMetrics() });
  for (let n = 0; n < 10; n += 1) await fixture.attempted(failedWith(500));
  told = [];
  expect(scheduler.state).toEqual({ active: 0, waiting: 0, waitingBytes: 0, breakersOpen: 1 });
  await fixture.attempted(DELIVERED);
  expect(told).toEqual([
    ['came', 'deferred', 'cash_in'],
    ['deferred', 'endpoint-failing'],
  ]);
});

test('a record that is no payment event', async () => {
  await fixture.fanOut(received({ ...paymentRecord(), value: Buffer.from('{}') }));
  expect(told).toEqual([['deadLetter', 'not-valid']]);
  expect(lines).toMatchObject([{ level: WARN, topic: 'payment-events', partition: 0, offset: 7 }]);
});

describe('when the payment was published', () => {
  const first = newDelivery(EVENT, named(1), received(paymentRecord(), { timestamp: NOW - 9_000 }));

  test('is known over the tiers, and with it how long the delivery took', async () => {
    const again = fromRetryRecord(toRetryRecord({ ...first, attempts: 1 }, NOW));
    if (!again) throw new Error('it is none of ours');
    fixture.answer = () => DELIVERED;
    await fixture.deliver(again);
    expect(told[1]).toEqual(['delivered', 9_000, true]);
  });

  const YEAR_MS = 31_557_600_000;
  test.each([
    ['is not known', null],
    ['has another unit, microseconds', NOW * 1_000],
    ['has another unit, seconds', NOW / 1_000],
    ['is a year ahead', NOW + YEAR_MS],
  ])('is not counted where the time of publication %s', async (_, publishedAt) => {
    await fixture.attempted(DELIVERED, { publishedAt });
    expect(told.map(([what]) => what)).toEqual(['attempted', 'came']);
  });
});

describe('the correlation id', () => {
  test.each([
    ["is the payment system's own", 'order-42:a', 'order-42:a'],
    ["is the delivery's id where that is not sound", 'two\nlines', ABOUT.deliveryId],
  ])('%s', async (_, given, correlationId) => {
    const record = paymentRecord({ headers: [header('x-correlation-id', given)] });
    await fixture.attempted(TIMED_OUT, { record });
    expect(lines).toMatchObject([{ msg: 'an attempt failed', correlationId }]);
  });
});
