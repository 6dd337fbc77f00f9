import fc from 'fast-check';
import type { AttemptResult } from '../../src/delivery/attempt/attempt.js';
import type { Delivery } from '../../src/delivery/delivery.js';
import { loggedAttempt } from '../../src/delivery/log/log-record.js';
import { type NextStep, nextStep, type StepResult, type StepTime } from '../../src/delivery/next-step.js';
import type { OffBy } from '../../src/delivery/recipient.js';
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
const TIME: StepTime = {
  ...{ schedule: SCHEDULE, tiers: { retry, deferred }, timeoutMs: TIMEOUT_MS },
  ...{ inHandMs: 0, now: NOW, random: () => 0, failingSince: null },
};

const failedAs = (made: AttemptResult, isFailing: boolean): StepResult => {
  const { retryAfterMs } = made;
  return { kind: 'failed', attempt: loggedAttempt(made, 1), retryAfterMs, isFailing };
};
const failed = (retryAfterMs: number | null = null) => failedAs(failedWith(503, retryAfterMs), true);
/** By a URL that is not failing. */
const refused = (status: number, retryAfterMs: number | null) => failedAs(failedWith(status, retryAfterMs), false);
const timedOut = failedAs(TIMED_OUT, true);
const delivered: StepResult = { kind: 'delivered', attempt: loggedAttempt(DELIVERED, 1) };
const gone = (by: OffBy): StepResult => ({ kind: 'switched-off', by, attempt: loggedAttempt(GONE, 1) });
const deferredFor = (why: DeferReason, pausedMs = 0, turnMs = 0): StepResult => ({
  kind: 'deferred',
  why,
  pausedMs,
  turnMs,
});
const noSlot = () => deferredFor('endpoint-failing');
const QUEUE_FULL = deferredFor('queue');
const stopping = deferredFor('stopping');
const unsent = (to: Extract<StepResult, { kind: 'unsent' }>['to']): StepResult => ({ kind: 'unsent', to });

/** @param text of the tier @param ms until it is due there @param moreMs left then */
const waitsIn = (text: string, ms: number, moreMs = 0) => ({ kind: 'retry', tier: { text }, due: NOW + ms, moreMs });
const letter = (reason: string, detail: string | RegExp) => ({
  kind: 'letter',
  reason,
  detail: expect.stringMatching(detail) as unknown,
});

/** NOW is on the grid of its account. */
const onGrid = (changes: Partial<Delivery>) => deliveryTo(1, { accountId: 0, ...changes });

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
  ['Retry-After is kept, by several tiers', {}, failed(200_000), { kept: waitsIn('deferred.160s', 160_000, 40_000) }],
  ['Retry-After is a step', {}, failed(80_000), { kept: waitsIn('deferred.80s', 80_000), delivery: { step: 1 } }],
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
  [
    'a throttled last attempt of a failing URL waits for Retry-After',
    { step: 3 },
    failed(8_000),
    { outcome: 'retrying', kept: waitsIn('5s', 5_000, 3_000), delivery: { step: 3, refused: 1 } },
  ],
  ['a throttled last attempt for the 21st time', { step: 3, refused: 20 }, failed(8_000), { outcome: 'exhausted' }],
  [
    'a throttled last attempt past its end',
    { step: 3, usedMs: LIFETIME_MS },
    refused(429, 2_000),
    { outcome: 'exhausted', kept: letter('exhausted', 'status 429') },
  ],
  ['for the 20th time in a row', { refused: 19 }, refused(429, null), { delivery: { step: 0, refused: 20 } }],
  ['for the 21st: a step', { refused: 20 }, refused(429, null), { delivery: { step: 1 }, kept: waitsIn('5s', 5_000) }],
  [
    'its end is earlier than Retry-After: then its last attempt is made',
    { usedMs: LIFETIME_MS - 70_000 },
    failed(7_000_000),
    { kept: waitsIn('deferred.40s', 40_000, 30_000), delivery: { usedMs: LIFETIME_MS } },
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
        usedMs: 5_000,
        waitingFor: 'endpoint-failing',
      },
    },
  ],
  ['a full queue', {}, deferredFor('queue'), { kept: { ...waitsIn('deferred.5s', 5_000), deferral: 'turn' } }],
  [
    'a full queue that has a turn in it: due then, with others of the same second',
    {},
    deferredFor('queue', 0, 7_000),
    { kept: { ...waitsIn('deferred.5s', 5_000, 1_250), deferral: 'turn' } },
  ],
  [
    'a turn in half a minute: still with those of about the same second, or the URL would be idle between them',
    {},
    deferredFor('queue', 0, 34_000),
    { kept: waitsIn('deferred.20s', 20_000, 13_750) },
  ],
  ['a pause', {}, deferredFor('endpoint-paused', 7_000), { kept: { deferral: 'pause' } }],
  ['an outage', {}, noSlot(), { kept: { deferral: 'outage' } }],
  ['our stop', {}, stopping, { kept: { deferral: null } }],
  ['a failure is not a deferral', {}, failed(), { kept: { deferral: null } }],
  ['no slot again: the log says it already', { waitingFor: 'endpoint-failing' }, noSlot(), { isTold: false }],
  ['but for another reason', { waitingFor: 'queue' }, noSlot(), { isTold: true }],
  ['away for 100 s', { deferredFrom: 7, usedMs: 100_007 }, noSlot(), { kept: waitsIn('deferred.10s', 10_000) }],
  ['1 ms less', { deferredFrom: 8, usedMs: 100_007 }, noSlot(), { kept: waitsIn('deferred.5s', 5_000) }],
  [
    'away for 2 h, by its own time',
    { deferredFrom: 0, usedMs: 120 * MINUTE },
    noSlot(),
    { kept: waitsIn('deferred.10m', 10 * MINUTE) },
  ],
  [
    'an attempt begins it anew',
    { deferredFrom: 7, deferrals: 2 },
    failed(),
    { delivery: { deferredFrom: null, deferrals: 0 } },
  ],
  [
    'in the queue of a URL that takes deliveries, which is not away',
    { deferredFrom: 0, usedMs: 120 * MINUTE },
    deferredFor('queue'),
    { kept: waitsIn('deferred.5s', 5_000), delivery: { deferredFrom: null, waitingFor: 'queue' } },
  ],
  [
    'at a URL that asked for a pause: to its end, rounded up',
    {},
    deferredFor('endpoint-paused', 45_100),
    {
      kept: waitsIn('deferred.40s', 40_000, 6_250),
      delivery: { deferredFrom: null, usedMs: 46_250, waitingFor: 'endpoint-paused' },
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
    { kept: waitsIn('deferred.5s', 1_250) },
  ],
  [
    'no slot, past its end',
    { usedMs: LIFETIME_MS, waitingFor: 'endpoint-failing' },
    noSlot(),
    { outcome: 'exhausted', isTold: true, kept: letter('exhausted', 'its time limit passed .endpoint-failing.') },
  ],
  [
    'a full queue, past its end, after an attempt',
    { usedMs: LIFETIME_MS, attempts: 1 },
    deferredFor('queue', 0, 20_000),
    { outcome: 'exhausted', kept: letter('exhausted', 'its time limit passed .queue.') },
  ],
  [
    'a full queue, past its end, without an attempt: it returns at its turn',
    { usedMs: LIFETIME_MS },
    deferredFor('queue', 0, 20_000),
    { outcome: 'retrying', kept: waitsIn('deferred.20s', 20_000), delivery: { attempts: 0, waitingFor: 'queue' } },
  ],
  [
    'a full queue, before its end, without an attempt: it returns at its end',
    { usedMs: LIFETIME_MS - 6_000 },
    deferredFor('queue', 0, 20_000),
    { outcome: 'retrying', kept: waitsIn('deferred.5s', 5_000) },
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
  expect(nextStep(onGrid(given), when, TIME)).toMatchObject(then);
});

test.each([
  ['from the recorded failing on, whatever the delivery remembers', 51 * MINUTE, '5m'],
  ['for 3 days', 4_320 * MINUTE, '30m'],
])('a URL is away %s', (_, awayMs, tier) => {
  const step = nextStep(onGrid({ deferredFrom: 0, usedMs: 7 }), noSlot(), { ...TIME, failingSince: NOW - awayMs });
  const { ms = 0 } = delayOf(tier) ?? {};
  expect(step).toMatchObject({ kept: waitsIn(`deferred.${tier}`, ms) });
});

test('deliveries of an account that are deferred one by one return together, in time and at four moments per tier', () => {
  const at = fc.integer({ min: 0, max: 3_600_000 });
  const dues = new Set<number>();
  fc.assert(
    fc.property(at, fc.maxSafeInteger(), (ms, accountId) => {
      const { kept } = nextStep(deliveryTo(1, { accountId }), noSlot(), { ...TIME, now: NOW + ms });
      if (kept?.kind !== 'retry') throw new Error('it waits');
      expect(kept.moreMs).toBe(0);
      expect(kept.due - (NOW + ms)).toBeGreaterThanOrEqual(3_749);
      expect(kept.due - (NOW + ms)).toBeLessThanOrEqual(5_000);
    }),
  );
  for (let ms = 0; ms < 10_000; ms += 10) {
    const { kept } = nextStep(deliveryTo(1), noSlot(), { ...TIME, now: NOW + ms });
    if (kept?.kind === 'retry') dues.add(kept.due);
  }
  expect(dues.size).toBeLessThanOrEqual(9);
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
    expect(nextStep(onGrid({}), noSlot(), last)).toMatchObject({
      outcome: 'retrying',
      kept: waitsIn('deferred.5s', 1_250),
    });
    expect(nextStep(deliveryTo(1), noSlot(), { ...last, inHandMs: LIFETIME_MS }).outcome).toBe('exhausted');
  });

  test('passes while it waits in a line and in a tier, and not while its record is due and nobody takes it', () => {
    const { delivery } = nextStep(onGrid({ usedMs: 1_000 }), failed(), { ...TIME, inHandMs: 60_000 });
    expect(delivery.usedMs).toBe(1_000 + 60_000 + 5_000);
    const afterAWeek = { ...TIME, now: NOW + 7 * 86_400_000 };
    expect(nextStep(delivery, noSlot(), afterAWeek)).toMatchObject({
      outcome: 'retrying',
      delivery: { usedMs: 66_000 + 5_000 },
    });
  });
});

/** What happens to a delivery, and for how long it was queued before. */
const anySteps = fc.infiniteStream(
  fc.record({
    result: fc.oneof(
      {
        weight: 8,
        arbitrary: fc.constantFrom(noSlot(), QUEUE_FULL, deferredFor('endpoint-paused', 60_000)),
      },
      { weight: 1, arbitrary: fc.option(fc.nat(10_000_000)).map(failed) },
    ),
    queuedMs: fc.nat(20_000),
    random: fc.float({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
  }),
);

test('each delivery ends within twice its lifetime, apart from the queue for its first attempt', () => {
  fc.assert(
    fc.property(anySteps, (steps) => {
      let [now, delivery, firstMs] = [NOW, deliveryTo(1), 0];
      for (const { result, queuedMs, random } of steps) {
        const [before, isOver] = [now, delivery.usedMs + queuedMs >= LIFETIME_MS];
        const isWaitingForFirst = isOver && delivery.attempts === 0 && result === QUEUE_FULL;
        now += queuedMs;
        const step: NextStep = nextStep(delivery, result, { ...TIME, inHandMs: queuedMs, now, random: () => random });
        if (isWaitingForFirst) expect(step.outcome).toBe('retrying');
        if (step.kept?.kind !== 'retry') break;
        ({ delivery } = step);
        now = step.kept.due + step.kept.moreMs;
        if (isWaitingForFirst) firstMs += now - before;
      }
      // An attempt may begin at its very end, and still fail as often as the schedule has delays.
      expect(now - NOW - firstMs).toBeLessThanOrEqual(2 * LIFETIME_MS + 100_000);
    }),
    { numRuns: 500 },
  );
});
