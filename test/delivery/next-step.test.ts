import fc from 'fast-check';
import type { Delivery } from '../../src/delivery/delivery.js';
import { loggedAttempt } from '../../src/delivery/log/log-record.js';
import { type NextStep, nextStep, type StepResult, type StepTime } from '../../src/delivery/next-step.js';
import type { OffBy } from '../../src/delivery/recipient.js';
import { lifetimeMs } from '../../src/delivery/retry/retry-schedule.js';
import { DELIVERED, deliveryTo, failedWith, GONE, NOW, TIMED_OUT } from '../support/delivery-samples.js';

const [FIRST, SECOND, THIRD] = [
  { text: '5s', ms: 5_000 },
  { text: '5m', ms: 300_000 },
  { text: '2h', ms: 7_200_000 },
] as const;
const SCHEDULE = [FIRST, SECOND, THIRD];
const TIMEOUT_MS = 15_000;
const LIFETIME_MS = lifetimeMs(SCHEDULE, TIMEOUT_MS);
const TIME: StepTime = { schedule: SCHEDULE, timeoutMs: TIMEOUT_MS, inHandMs: 0, now: NOW, random: () => 0 };

const attempt = loggedAttempt(failedWith(503), 1);
const failed = (retryAfterMs: number | null = null): StepResult => ({ kind: 'failed', attempt, retryAfterMs });
const timedOut: StepResult = { kind: 'failed', attempt: loggedAttempt(TIMED_OUT, 1), retryAfterMs: null };
const delivered: StepResult = { kind: 'delivered', attempt: loggedAttempt(DELIVERED, 1) };
const gone = (by: OffBy): StepResult => ({ kind: 'switched-off', by, attempt: loggedAttempt(GONE, 1) });
const noPlace = (isSoon = false): StepResult => ({ kind: 'parked', why: 'queue', isSoon });
const stopping: StepResult = { kind: 'parked', why: 'stopping', isSoon: true };
const unsent = (to: Extract<StepResult, { kind: 'unsent' }>['to']): StepResult => ({ kind: 'unsent', to });

const waitsIn = (tier: { text: string; ms: number }, ms: number = tier.ms) => ({ kind: 'retry', tier, due: NOW + ms });
const letter = (reason: string, detail: string | RegExp) => ({
  kind: 'letter',
  reason,
  detail: expect.stringMatching(detail) as unknown,
});

/** given a delivery, when a step comes to that, then. */
type Row = readonly [name: string, given: Partial<Delivery>, when: StepResult, then: object];

const ROWS: readonly Row[] = [
  ['2xx', {}, delivered, { outcome: 'delivered', kept: null, delivery: { attempts: 1 } }],
  ['a first failure waits for the first delay', {}, failed(), { outcome: 'retrying', kept: waitsIn(FIRST) }],
  ['no answer, too', { step: 1 }, timedOut, { kept: waitsIn(SECOND), delivery: { step: 2 } }],
  ['it counts', { attempts: 4, deferrals: 3 }, failed(), { delivery: { attempts: 5, deferrals: 0 } }],
  [
    'a failure is followed by a retry, which nobody asked for, in the same chain',
    { trigger: 'recover', actor: 'ana', chain: 7 },
    failed(),
    { delivery: { trigger: 'retry', actor: null, chain: 7 } },
  ],
  ['Retry-After skips what it covers', {}, failed(60_000), { kept: waitsIn(SECOND), delivery: { step: 2 } }],
  ['a Retry-After beyond all: the last', {}, failed(90_000_000), { kept: waitsIn(THIRD), delivery: { step: 3 } }],
  ['after the last delay', { step: 3 }, failed(), { outcome: 'exhausted', kept: letter('exhausted', 'status 503') }],
  ['the same, no answer', { step: 3 }, timedOut, { kept: letter('exhausted', 'timeout .waiting-for-headers.') }],
  ['410', { attempts: 1 }, gone('service'), { outcome: 'exhausted', kept: letter('deactivated', '410') }],
  ['410 counts', { attempts: 1 }, gone('service'), { delivery: { attempts: 2 } }],
  [
    '410, and its account was first',
    {},
    gone('account'),
    { outcome: 'cancelled', kept: null, delivery: { attempts: 1 } },
  ],
  ['no place: the first tier', { step: 2 }, noPlace(), { outcome: 'retrying', kept: waitsIn(FIRST), attempt: null }],
  ['no place counts nothing', { attempts: 2 }, noPlace(), { delivery: { attempts: 2, deferrals: 1 } }],
  ['no place again: the log says it already', { deferrals: 1 }, noPlace(), { isTold: false }],
  ['no place for the second time', { deferrals: 1, refusals: 1 }, noPlace(), { kept: waitsIn(SECOND) }],
  ['no place for the thousandth time', { deferrals: 999, refusals: 999 }, noPlace(), { kept: waitsIn(THIRD) }],
  [
    'no place again, in the queue of an endpoint that takes deliveries',
    { deferrals: 5, refusals: 1 },
    noPlace(true),
    { kept: waitsIn(FIRST), delivery: { deferrals: 6, refusals: 1 } },
  ],
  [
    'nine times so, and then none at its endpoint',
    { deferrals: 9, refusals: 0 },
    noPlace(),
    { kept: waitsIn(FIRST), delivery: { deferrals: 10, refusals: 1 } },
  ],
  ['no place, its end before the tier', { usedMs: LIFETIME_MS - 2_000 }, noPlace(), { kept: waitsIn(FIRST, 2_000) }],
  [
    'no place, past its end',
    { usedMs: LIFETIME_MS },
    noPlace(),
    { outcome: 'exhausted', kept: letter('exhausted', 'queue') },
  ],
  [
    'its breaker is open, past its end',
    { usedMs: LIFETIME_MS, deferrals: 3 },
    { kind: 'parked', why: 'endpoint-failing', isSoon: false },
    { outcome: 'exhausted', isTold: true, kept: letter('exhausted', 'endpoint-failing') },
  ],
  [
    'past its end it may still fail',
    { usedMs: LIFETIME_MS, step: 1 },
    failed(),
    { outcome: 'retrying', kept: waitsIn(SECOND) },
  ],
  ['our stop ends nothing', { usedMs: LIFETIME_MS }, stopping, { outcome: 'retrying', kept: waitsIn(FIRST, 0) }],
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

test.each(ROWS)('%s', (_, given, when, then) => {
  expect(nextStep(deliveryTo(1, given), when, TIME)).toMatchObject(then);
});

test('what failed together is not tried together: up to a tenth later', () => {
  const { kept } = nextStep(deliveryTo(1), failed(), { ...TIME, random: () => 0.999 });
  expect(kept).toMatchObject({ due: NOW + 5_499 });
});

describe('the time of a delivery', () => {
  test('begins with all delays, a tenth more, and the time of each attempt', () => {
    expect(LIFETIME_MS).toBe(8_255_501 + 4 * TIMEOUT_MS);
    const last = { ...TIME, inHandMs: LIFETIME_MS - 1 };
    expect(nextStep(deliveryTo(1), noPlace(), last)).toMatchObject({ outcome: 'retrying', kept: waitsIn(FIRST, 1) });
    expect(nextStep(deliveryTo(1), noPlace(), { ...last, inHandMs: LIFETIME_MS }).outcome).toBe('exhausted');
  });

  test('passes while it waits in a line and in a tier, and not while its record is due and nobody takes it', () => {
    const { delivery } = nextStep(deliveryTo(1, { usedMs: 1_000 }), failed(), { ...TIME, inHandMs: 60_000 });
    expect(delivery.usedMs).toBe(1_000 + 60_000 + 5_000);
    const afterAWeek = { ...TIME, now: NOW + 7 * 86_400_000 };
    expect(nextStep(delivery, noPlace(), afterAWeek)).toMatchObject({
      outcome: 'retrying',
      delivery: { usedMs: 66_000 + 5_000 },
    });
  });
});

test('it ends: whatever its steps come to, each delivery has an end within twice its time', () => {
  const results = fc.infiniteStream(
    fc.record({
      result: fc.oneof(
        { weight: 8, arbitrary: fc.boolean().map(noPlace) },
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
        now = step.kept.due;
      }
      // An attempt may begin at its very end, and still fail as often as the schedule has delays.
      expect(now - NOW).toBeLessThanOrEqual(2 * LIFETIME_MS + 100_000);
    }),
    { numRuns: 500 },
  );
});
