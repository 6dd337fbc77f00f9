import fc from 'fast-check';
import type { AttemptResult } from '../../src/delivery/attempt/attempt.js';
import type { Delivery } from '../../src/delivery/delivery.js';
import { loggedAttempt } from '../../src/delivery/log/log-record.js';
import { type Away, type NextStep, nextStep, type StepResult, type StepTime } from '../../src/delivery/next-step.js';
import type { OffBy } from '../../src/delivery/recipient.js';
import type { Waited } from '../../src/delivery/retry/deferral-pace.js';
import { type Delay, delayOf, lifetimeMs } from '../../src/delivery/retry/retry-schedule.js';
import { topicsOf } from '../../src/delivery/topics.js';
import type { DeferReason } from '../../src/observability/metrics.js';
import { DELIVERED, deliveryTo, failedWith, GONE, NOW, TIMED_OUT } from '../support/generators/delivery-samples.js';

const [FIRST, SECOND, THIRD] = [
  { text: '5s', ms: 5_000 },
  { text: '5m', ms: 300_000 },
  { text: '2h', ms: 7_200_000 },
] as const;
const SCHEDULE = [FIRST, SECOND, THIRD];
const TIMEOUT_MS = 15_000;
const MINUTE = 60_000;
const LIFETIME_MS = lifetimeMs(SCHEDULE, TIMEOUT_MS);
const { retry, deferred } = topicsOf(['payment-events'], '').tiers(SCHEDULE);
const AWAY = { since: null, longer: () => null };
const TIME: StepTime = {
  ...{ schedule: SCHEDULE, tiers: { retry, deferred }, timeoutMs: TIMEOUT_MS },
  ...{ inHandMs: 0, now: NOW, random: () => 0, away: AWAY },
};

const failedAs = (made: AttemptResult, hasSucceededLately: boolean): StepResult => {
  const { retryAfterMs } = made;
  return { kind: 'failed', attempt: loggedAttempt(made, 1), retryAfterMs, hasSucceededLately };
};
const failed = (retryAfterMs: number | null = null) => failedAs(failedWith(503, retryAfterMs), false);
/** By a URL that took something within the last minute. */
const refused = (status: number, retryAfterMs: number | null) => failedAs(failedWith(status, retryAfterMs), true);
const timedOut = failedAs(TIMED_OUT, false);
const delivered: StepResult = { kind: 'delivered', attempt: loggedAttempt(DELIVERED, 1) };
const gone = (by: OffBy): StepResult => ({ kind: 'switched-off', by, attempt: loggedAttempt(GONE, 1) });
const deferredFor = (why: DeferReason, pausedMs = 0): StepResult => ({ kind: 'deferred', why, pausedMs });
const noSlot = () => deferredFor('endpoint-failing');
const stopping = deferredFor('stopping');
const unsent = (to: Extract<StepResult, { kind: 'unsent' }>['to']): StepResult => ({ kind: 'unsent', to });

/** @param text of the tier @param ms until it is due there @param moreMs left then */
const waitsIn = (text: string, ms: number, moreMs = 0) => ({ kind: 'retry', tier: { text }, due: NOW + ms, moreMs });
const letter = (reason: string, detail: string | RegExp) => ({
  kind: 'letter',
  reason,
  detail: expect.stringMatching(detail) as unknown,
});

/** given a delivery, when a step comes to that, then. */
type Row = readonly [name: string, given: Partial<Delivery>, when: StepResult, then: object];

const ROWS: readonly Row[] = [
  ['2xx', {}, delivered, { outcome: 'delivered', kept: null, delivery: { attempts: 1 } }],
  ['a first failure waits for the first delay', {}, failed(), { outcome: 'retrying', kept: waitsIn('5s', 5_000) }],
  ['no answer, too', { step: 1 }, timedOut, { kept: waitsIn('5m', 300_000), delivery: { step: 2 } }],
  ['it counts', { attempts: 4, deferrals: 3 }, failed(), { delivery: { attempts: 5, deferrals: 0 } }],
  [
    'a failure is followed by a retry, which nobody asked for, in the same chain',
    { trigger: 'recover', actor: 'ana', chain: 7 },
    failed(),
    { delivery: { trigger: 'retry', actor: null, chain: 7 } },
  ],
  ['Retry-After is kept, by several tiers', {}, failed(200_000), { kept: waitsIn('deferred.1m', MINUTE, 140_000) }],
  ['Retry-After is a step', {}, failed(MINUTE), { kept: waitsIn('deferred.1m', MINUTE), delivery: { step: 1 } }],
  ['a shorter one than the step’s delay', { step: 1 }, failed(MINUTE), { kept: waitsIn('5m', 300_000) }],
  ['one beyond all delays: the longest', {}, failed(90_000_000), { kept: waitsIn('2h', 7_200_000) }],
  ['a refusal is counted', { refused: 3 }, failed(MINUTE), { delivery: { refused: 4, waitingFor: 'schedule' } }],
  ['a failure is none', { refused: 3 }, failed(), { delivery: { refused: 0, waitingFor: 'schedule' } }],
  [
    'a 503 without a time is none, also of a URL that took something',
    {},
    refused(503, null),
    { delivery: { step: 1 } },
  ],
  [
    'a URL that takes some and refuses others: no step, and the log says why it waits',
    { step: 2, attempts: 4, waitingFor: 'schedule' },
    refused(429, 8_000),
    {
      kept: waitsIn('5s', 5_000, 3_000),
      delivery: { step: 2, attempts: 5, refused: 1, waitingFor: 'endpoint-paused' },
      isTold: true,
    },
  ],
  ['without a time: a second', {}, refused(429, null), { kept: waitsIn('5s', 1_000), delivery: { step: 0 } }],
  ['a 503 with a time, too', {}, refused(503, 0), { kept: waitsIn('5s', 1_000), delivery: { step: 0 } }],
  ['after the last delay, too', { step: 3 }, refused(429, null), { outcome: 'retrying', delivery: { step: 3 } }],
  ['for the 20th time in a row', { refused: 19 }, refused(429, null), { delivery: { step: 0, refused: 20 } }],
  ['for the 21st: a step', { refused: 20 }, refused(429, null), { delivery: { step: 1 }, kept: waitsIn('5s', 5_000) }],
  [
    'its end is earlier than Retry-After: then its last attempt is made',
    { usedMs: LIFETIME_MS - 70_000 },
    failed(7_000_000),
    { kept: waitsIn('deferred.1m', MINUTE, 10_000), delivery: { usedMs: LIFETIME_MS } },
  ],
  [
    'that one fails',
    { usedMs: LIFETIME_MS },
    failed(),
    { outcome: 'exhausted', kept: letter('exhausted', 'status 503') },
  ],
  ['after the last delay', { step: 3 }, failed(), { outcome: 'exhausted', kept: letter('exhausted', 'status 503') }],
  ['410', { attempts: 1 }, gone('service'), { kept: letter('deactivated', '410'), delivery: { attempts: 2 } }],
  [
    '410, and its account was first',
    {},
    gone('account'),
    { outcome: 'cancelled', kept: null, delivery: { attempts: 1 } },
  ],
  [
    'no slot: the first tier of deferred ones, which counts nothing',
    { step: 2, attempts: 2 },
    noSlot(),
    {
      ...{ outcome: 'retrying', kept: waitsIn('deferred.5s', 5_000), attempt: null, isTold: true },
      delivery: {
        step: 2,
        attempts: 2,
        deferrals: 1,
        deferredFrom: 0,
        deferredMs: 5_000,
        waitingFor: 'endpoint-failing',
      },
    },
  ],
  ['no slot again: the log says it already', { waitingFor: 'endpoint-failing' }, noSlot(), { isTold: false }],
  ['but for another reason', { waitingFor: 'queue' }, noSlot(), { isTold: true }],
  ['away for 11 min', { deferredFrom: 7, usedMs: 11 * MINUTE + 7 }, noSlot(), { kept: waitsIn('deferred.1m', MINUTE) }],
  ['1 ms less', { deferredFrom: 8, usedMs: 11 * MINUTE + 7 }, noSlot(), { kept: waitsIn('deferred.5s', 5_000) }],
  [
    'away for 2 h, by its own time',
    { deferredFrom: 0, usedMs: 120 * MINUTE },
    noSlot(),
    { kept: waitsIn('deferred.5m', 5 * MINUTE) },
  ],
  [
    'an attempt begins it anew',
    { deferredFrom: 7, deferredMs: 5_000, deferrals: 2 },
    failed(),
    { delivery: { deferredFrom: null, deferredMs: 0, deferrals: 0 } },
  ],
  [
    'in the queue of a URL that takes deliveries, which is not away',
    { deferredFrom: 0, usedMs: 120 * MINUTE },
    deferredFor('queue'),
    { kept: waitsIn('deferred.5s', 5_000), delivery: { deferredFrom: null, waitingFor: 'queue' } },
  ],
  [
    'at a URL that asked for a pause: to its end',
    {},
    deferredFor('endpoint-paused', 42_500),
    {
      kept: waitsIn('deferred.5s', 5_000, 37_500),
      delivery: { deferredFrom: null, deferredMs: 42_500, waitingFor: 'endpoint-paused' },
    },
  ],
  ...(['stopping', 'not-prepared'] as const).map(
    (why): Row => [
      `our own fault says nothing of its URL: ${why}`,
      { deferredFrom: 7, usedMs: 120 * MINUTE },
      deferredFor(why),
      { kept: waitsIn('deferred.5s', 5_000), delivery: { deferredFrom: 7, waitingFor: 'queue' } },
    ],
  ),
  [
    'no slot, its end before the tier',
    { usedMs: LIFETIME_MS - 2_000 },
    noSlot(),
    { kept: waitsIn('deferred.5s', 2_000) },
  ],
  [
    'no slot, past its end',
    { usedMs: LIFETIME_MS, waitingFor: 'endpoint-failing' },
    noSlot(),
    { outcome: 'exhausted', isTold: true, kept: letter('exhausted', 'its time limit passed .endpoint-failing.') },
  ],
  [
    'our stop ends nothing',
    { usedMs: LIFETIME_MS },
    stopping,
    { outcome: 'retrying', kept: waitsIn('deferred.5s', 0) },
  ],
  ['off by its account', {}, unsent({ kind: 'inactive', by: 'account' }), { outcome: 'cancelled', kept: null }],
  [
    'its webhook removed',
    {},
    unsent({ kind: 'inactive', by: 'removal' }),
    { outcome: 'cancelled', kept: null, endedBy: 'webhook-removed' },
  ],
  ['410, and its webhook removed', {}, gone('removal'), { outcome: 'cancelled', endedBy: 'webhook-removed' }],
  [
    'off by the service',
    { attempts: 2 },
    unsent({ kind: 'inactive', by: 'service' }),
    {
      outcome: 'exhausted',
      attempt: null,
      kept: letter('deactivated', 'deactivated'),
      delivery: { attempts: 2 },
    },
  ],
  [
    'of another history',
    {},
    unsent({ kind: 'other-history', addedBy: 'e2' }),
    {
      outcome: 'exhausted',
      attempt: null,
      kept: letter('other-history', /^event e2 added webhook 1; .* event added 1/),
    },
  ],
  [
    'of an account that can’t be read',
    { attempts: 2 },
    unsent({ kind: 'account-unreadable', why: 'event 7 of it' }),
    { outcome: 'exhausted', attempt: null, kept: letter('account-unreadable', /^event 7 of it$/) },
  ],
];

test.each(ROWS)('decides what follows: %s', (_, given, when, then) => {
  expect(nextStep(deliveryTo(1, given), when, TIME)).toMatchObject(then);
});

test.each<readonly [string, Partial<Away>, Partial<Delivery>, StepResult, object]>([
  [
    'from the noted failing on, whatever the delivery remembers',
    { since: NOW - 51 * MINUTE },
    { deferredFrom: 0, usedMs: 7 },
    noSlot(),
    waitsIn('deferred.1m', MINUTE),
  ],
  ['for 3 days', { since: NOW - 4_320 * MINUTE }, {}, noSlot(), waitsIn('deferred.30m', 30 * MINUTE)],
  ['longer where there are many', { longer: () => THIRD }, {}, noSlot(), waitsIn('2h', 7_200_000)],
  ['in a pause, too', { longer: () => THIRD }, {}, deferredFor('endpoint-paused', 9_000), waitsIn('2h', 7_200_000)],
])('a URL is away %s', (_, away, given, when, kept) => {
  expect(nextStep(deliveryTo(1, given), when, { ...TIME, away: { ...AWAY, ...away } })).toMatchObject({ kept });
});

test('what counts deferrals is told how long it would wait, how long its URL was away, and how long it waited last', () => {
  const told: Waited[] = [];
  const longer = (waited: Waited) => {
    told.push(waited);
    return null;
  };
  const away = { since: NOW - MINUTE, longer };
  nextStep(deliveryTo(1, { deferredMs: 5_250 }), noSlot(), { ...TIME, away });
  nextStep(deliveryTo(1), deferredFor('endpoint-paused', 9_000), { ...TIME, away });
  nextStep(deliveryTo(1), stopping, { ...TIME, away });
  expect(told).toEqual([
    { baseMs: 5_000, awayMs: MINUTE, lastMs: 5_250 },
    { baseMs: 9_000, awayMs: 0, lastMs: 0 },
  ]);
});

test('half an hour of 503 with a Retry-After of a minute exhausts nothing', () => {
  const schedule = ['5s', '5m', '30m', '2h', '5h', '10h', '14h', '20h', '24h'].map((text) => delayOf(text) as Delay);
  const time = { ...TIME, schedule, tiers: topicsOf(['payment-events'], '').tiers(schedule) };
  let [now, delivery] = [NOW, deliveryTo(1)];
  while (now < NOW + 30 * MINUTE) {
    const result = now < NOW + MINUTE ? refused(503, MINUTE) : failed(MINUTE);
    const { kept, ...step } = nextStep(delivery, result, { ...time, now });
    if (kept?.kind !== 'retry') throw new Error('it is exhausted');
    [now, delivery] = [kept.due + kept.moreMs, step.delivery];
  }
  expect(delivery.step).toBe(3);
});

test('what failed together is not tried together: up to a tenth later', () => {
  const { kept } = nextStep(deliveryTo(1), failed(), { ...TIME, random: () => 0.999 });
  expect(kept).toMatchObject({ due: NOW + 5_499 });
});

describe('the time of a delivery', () => {
  test('begins with all delays, a tenth more, and the time of each attempt', () => {
    expect(LIFETIME_MS).toBe(8_255_501 + 4 * TIMEOUT_MS);
    const last = { ...TIME, inHandMs: LIFETIME_MS - 1 };
    expect(nextStep(deliveryTo(1), noSlot(), last)).toMatchObject({
      outcome: 'retrying',
      kept: waitsIn('deferred.5s', 1),
    });
    expect(nextStep(deliveryTo(1), noSlot(), { ...last, inHandMs: LIFETIME_MS }).outcome).toBe('exhausted');
  });

  test('passes while it waits in a line and in a tier, and not while its record is due and nobody takes it', () => {
    const { delivery } = nextStep(deliveryTo(1, { usedMs: 1_000 }), failed(), { ...TIME, inHandMs: 60_000 });
    expect(delivery.usedMs).toBe(1_000 + 60_000 + 5_000);
    const afterAWeek = { ...TIME, now: NOW + 7 * 86_400_000 };
    expect(nextStep(delivery, noSlot(), afterAWeek)).toMatchObject({
      outcome: 'retrying',
      delivery: { usedMs: 66_000 + 5_000 },
    });
  });
});

test('it ends: whatever its steps come to, each delivery has an end within twice its time', () => {
  const results = fc.infiniteStream(
    fc.record({
      result: fc.oneof(
        {
          weight: 8,
          arbitrary: fc.constantFrom(noSlot(), deferredFor('queue'), deferredFor('endpoint-paused', 60_000)),
        },
        { weight: 1, arbitrary: fc.option(fc.nat(10_000_000)).map(failed) },
      ),
      inLineMs: fc.nat(20_000),
      random: fc.float({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
    }),
  );
  fc.assert(
    fc.property(results, (steps) => {
      let now = NOW;
      let delivery = deliveryTo(1);
      for (const { result, inLineMs, random } of steps) {
        now += inLineMs;
        const step: NextStep = nextStep(delivery, result, { ...TIME, inHandMs: inLineMs, now, random: () => random });
        if (step.kept?.kind !== 'retry') break;
        ({ delivery } = step);
        now = step.kept.due + step.kept.moreMs;
      }
      // An attempt may begin at its very end, and still fail as often as the schedule has delays.
      expect(now - NOW).toBeLessThanOrEqual(2 * LIFETIME_MS + 100_000);
    }),
    { numRuns: 500 },
  );
});
