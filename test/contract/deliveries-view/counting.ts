/** Counters and health: functions of the entries, whatever their order. */
import fc from 'fast-check';
import type { StatsQuery, ViewEntry, ViewRouting } from '../../../src/ports/deliveries-view.js';
import { OUTCOMES } from '../../../src/ports/delivery-order.js';
import { ACCOUNT, NOW } from '../../support/generators/delivery-samples.js';
import {
  type AskedCore,
  attempt,
  entry,
  eventsQuery,
  type Of,
  query,
  routing,
  WEBHOOK,
} from '../../support/scenes/deliveries-view-subject.js';
import { type ViewCase, type ViewSubject, viewCase } from './view-case.js';

const MINUTE = 60_000;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const BEGIN = Math.floor(NOW / DAY) * DAY;
const NOTHING = { delivered: 0, failedAttempts: 0, exhausted: 0, cancelled: 0, held: 0, p50Ms: null, p95Ms: null };

const STEPS = ['1m', '1h'] as const;
/** Of a history: some minutes. */
const SHORT_MS = 200_000;

const statsQuery = (changes: Partial<Of<StatsQuery>> = {}): Of<StatsQuery> => {
  const all = { from: BEGIN - 4 * DAY, to: BEGIN + 4 * DAY, step: '1m', webhookId: null, eventType: null } as const;
  return { ...all, ...changes };
};

export const counting: readonly ViewCase[] = [
  viewCase('attempts count when they began, and ends when their entry was published', ({ port }) => {
    const began = NOW - (NOW % MINUTE);
    const at = (ms: number) => ({ place: { partition: 0, offset: ms, timestamp: began + ms } });
    const made = (ms: number, status: number) => ({
      attempt: attempt(0, { at: new Date(began + ms).toISOString(), status }),
    });
    port.add([entry(1, { ...at(MINUTE), ...made(0, 503), outcome: 'retrying' })]);
    port.add([entry(1, { ...at(2 * MINUTE), ...made(MINUTE, 200), attempts: 2 })]);
    port.add([entry(2, { ...at(2 * MINUTE + 1), outcome: 'exhausted', attempt: null, held: true })]);
    port.add([entry(3, { ...at(2 * MINUTE + 2), outcome: 'exhausted', attempt: null })]);
    port.add([entry(4, { ...at(2 * MINUTE + 3), outcome: 'cancelled', attempt: null })]);
    const [first, second, third] = port.stats(statsQuery());
    expect(first).toEqual({ ...NOTHING, at: began, failedAttempts: 1 });
    expect(second).toMatchObject({
      ...NOTHING,
      at: began + MINUTE,
      delivered: 1,
      p50Ms: expect.closeTo(12, -1),
      p95Ms: expect.any(Number),
    });
    expect(third).toEqual({ ...NOTHING, at: began + 2 * MINUTE, exhausted: 1, cancelled: 1, held: 1 });
    const whole = { delivered: 1, failedAttempts: 1, exhausted: 1, cancelled: 1, held: 1 };
    const hour = Math.floor(NOW / HOUR) * HOUR;
    expect(port.stats(statsQuery({ step: '1h' }))).toMatchObject([{ at: hour, ...whole }]);
    expect(port.attempts(0).filter(({ made }) => made > 0)).toEqual([
      { at: began, webhookId: WEBHOOK, made: 1, failed: 1 },
      { at: began + MINUTE, webhookId: WEBHOOK, made: 1, failed: 0 },
    ]);
    expect(port.attempts(began + MINUTE + 1)[0]).toMatchObject({ at: began + MINUTE });
    expect(port.dataSince(ACCOUNT)).toBe(began);
    expect([port.dataSince(43), port.stats(statsQuery({ accountId: 43 }))]).toEqual([null, []]);
  }),
  viewCase('a resend of what was delivered counts where it is made, and changes nothing of before', ({ port }) => {
    port.add([entry(1), entry(2), entry(3)]);
    const hourly = () => port.stats(statsQuery({ step: '1h' })).map(({ delivered }) => delivered);
    expect(hourly()).toEqual([3]);
    const resent = (outcome: ViewEntry['outcome'], chain: number, status: number) =>
      entry(1, {
        ...{ outcome, chain, place: { partition: 0, offset: 10 + chain, timestamp: NOW + DAY } },
        attempt: attempt(DAY, { status }),
      });
    port.add([resent('exhausted', 3, 503)]);
    expect(hourly()).toEqual([3, 0]);
    port.add([resent('delivered', 5, 200)]);
    expect(hourly()).toEqual([3, 1]);
  }),
  viewCase('stats are narrowed by webhook, event type and time', ({ port }) => {
    port.add([
      entry(1),
      entry(2, { webhookId: 8, eventType: 'cash_out' }),
      entry(3, { webhookId: 8, eventType: 'cash_out' }),
    ]);
    const delivered = (changes: Partial<Of<StatsQuery>>) =>
      port.stats(statsQuery({ step: '1h', ...changes })).reduce((sum, one) => sum + one.delivered, 0);
    expect(delivered({})).toBe(3);
    expect([delivered({ webhookId: 7 }), delivered({ webhookId: 8 }), delivered({ webhookId: 9 })]).toEqual([1, 2, 0]);
    expect([delivered({ eventType: 'cash_out' }), delivered({ eventType: 'cash_out', webhookId: 7 })]).toEqual([2, 0]);
    expect(delivered({ to: BEGIN })).toBe(0);
  }),
  viewCase('percentiles are close to those of the durations', ({ port }) => {
    port.add(Array.from({ length: 200 }, (_, n) => entry(n, { attempt: attempt(n, { durationMs: n + 1 }) })));
    const [{ p50Ms, p95Ms } = NOTHING] = port.stats(statsQuery({ step: '1h' }));
    expect([Math.abs((p50Ms ?? 0) - 100) < 20, Math.abs((p95Ms ?? 0) - 190) < 38]).toEqual([true, true]);
  }),
  viewCase(
    'an hour has the same counts after its minutes are forgotten, 2 days later, until its entries are',
    ({ port }) => {
      const begun = (n: number, at: number, more: Partial<ViewEntry> = {}) =>
        entry(n, {
          place: { partition: 0, offset: n, timestamp: at },
          attempt: attempt(0, { at: new Date(at).toISOString() }),
          ...more,
        });
      const hourly = () => port.stats(statsQuery({ step: '1h' })).slice(0, 4);
      const early = Array.from({ length: 240 }, (_, n) => begun(n, BEGIN + n * MINUTE, { webhookId: 7 + (n % 3) }));
      port.add(early);
      const before = hourly();
      expect(before.map(({ delivered }) => delivered)).toEqual([60, 60, 60, 60]);
      for (let n = 1; n <= 3; n += 1) port.add([begun(1_000 + n, BEGIN + n * DAY)]);
      expect(port.stats(statsQuery({ to: BEGIN + DAY }))).toEqual([]);
      expect(hourly()).toEqual(before);
      port.add([begun(2_000, BEGIN + MINUTE)]);
      port.add([begun(2_001, BEGIN + 3 * DAY)]);
      expect(hourly().map(({ delivered }) => delivered)).toEqual([61, 60, 60, 60]);
      expect(port.dataSince(ACCOUNT)).toBe(BEGIN);
      port.forget(BEGIN + 2 * DAY);
      expect(port.dataSince(ACCOUNT)).toBe(BEGIN + 2 * DAY);
    },
  ),
  viewCase('health has the last success, the last failure, and since when a webhook fails', ({ port }) => {
    const failed = (n: number, outcome: ViewEntry['outcome'] = 'retrying') =>
      entry(n, { outcome, attempt: attempt(n, { status: 503 }) });
    port.add([failed(5), failed(30, 'exhausted'), failed(20), entry(9, { webhookId: 8 })]);
    const lastFailure = { at: NOW + 30, status: 503, error: null };
    const of = () => port.health(ACCOUNT).get(WEBHOOK);
    expect(of()).toEqual({
      lastSuccessAt: null,
      lastFailure,
      failingSince: NOW + 5,
      waiting: 2,
      held: 0,
      exhausted: 1,
    });
    port.add([entry(10)]);
    expect(of()).toMatchObject({ lastSuccessAt: NOW + 10, failingSince: NOW + 20 });
    port.add([entry(40), entry(50, { outcome: 'exhausted', held: true, attempt: null })]);
    expect(of()).toEqual({
      lastSuccessAt: NOW + 40,
      lastFailure,
      failingSince: null,
      waiting: 2,
      held: 1,
      exhausted: 1,
    });
    expect(port.health(ACCOUNT).get(8)).toMatchObject({ lastSuccessAt: NOW + 9, lastFailure: null, waiting: 0 });
    for (let round = 0; round < 3; round += 1) port.forget(NOW + 45);
    expect(of()).toMatchObject({ lastSuccessAt: NOW + 40, waiting: 0, held: 1, exhausted: 0 });
    for (let round = 0; round < 3; round += 1) port.forget(NOW + 90);
    expect(port.health(ACCOUNT).size).toBe(0);
  }),
  viewCase('all answers depend on which entries were added, not on their order or repetition', async (subject) => {
    await fc.assert(
      fc.asyncProperty(history(), async ({ entries, shuffled, batch, spanMs }) => {
        const isShort = spanMs === SHORT_MS;
        const first = await begunAnew(subject);
        first.add(entries);
        const expected = answers(first, isShort);
        const second = await begunAnew(subject);
        for (let n = 0; n < shuffled.length; n += batch) second.add(shuffled.slice(n, n + batch));
        expect(answers(second, isShort)).toEqual(expected);
      }),
      { numRuns: 60 },
    );
  }),
];

function begunAnew(subject: ViewSubject): Promise<AskedCore> {
  subject.port.discard();
  return subject.reopen();
}

/** @param isShort not so: which minutes are kept, and since when, depends on the newest and oldest that ever were */
function answers(view: AskedCore, isShort: boolean) {
  const all = { accountId: ACCOUNT, since: 0, until: 2 * NOW, include: ['exhausted', 'retrying', 'held'] } as const;
  const { deliveries } = view.page(query({ webhookId: null }));
  return {
    deliveries,
    details: deliveries.map(({ id }) => view.publications(ACCOUNT, id)),
    byEvent: [0, 1, 2].map((n) => view.page(query({ webhookId: null, eventId: `pay-${n}` })).deliveries),
    events: view.events(eventsQuery()),
    stats: (isShort ? STEPS : STEPS.slice(1)).map((step) => view.stats(statsQuery({ step }))),
    since: isShort && view.dataSince(ACCOUNT),
    health: view.health(ACCOUNT),
    recoverable: [[7], [8, 7]].map((webhookIds) => view.recoverableCount({ ...all, webhookIds })),
    next: ['r1', 'r2'].map((id) => view.nextRecoverable({ ...all, webhookIds: [7, 8] }, id, null)),
    recoveries: ['r1', 'r2'].map((id) => view.recovery(ACCOUNT, id)),
  };
}

/** Entries of three payments to two webhooks, and the same in another order, some of them more than once. */
function history() {
  const entries = (spanMs: number) =>
    fc.array(someEntry(spanMs), { minLength: 1, maxLength: 14 }).map((all) => ({ all, spanMs }));
  return fc.oneof(entries(SHORT_MS), entries(4 * DAY)).chain(({ all: entries, spanMs }) =>
    fc.record({
      spanMs: fc.constant(spanMs),
      entries: fc.constant(entries),
      shuffled: fc
        .tuple(fc.shuffledSubarray(entries, { minLength: entries.length }), fc.shuffledSubarray(entries))
        .map(([all, again]) => [...all, ...again]),
      batch: fc.integer({ min: 1, max: 5 }),
    }),
  );
}

function someEntry(spanMs: number): fc.Arbitrary<ViewEntry | ViewRouting> {
  const event = fc.integer({ min: 0, max: 2 });
  const routed = fc
    .record({ event, webhooks: fc.subarray([7, 8]), ms: fc.nat(spanMs) })
    .map(({ event: n, webhooks, ms }) => routing(n, { webhooks, place: placeAt(ms) }));
  const about = {
    ...{
      event,
      webhookId: fc.constantFrom(7, 8),
      outcome: fc.constantFrom(...OUTCOMES),
      chain: fc.nat(3),
      attempts: fc.nat(2),
    },
    ...{ isMade: fc.boolean(), ms: fc.nat(spanMs), durationMs: fc.nat(500), held: fc.boolean(), step: fc.nat(1) },
    isRequest: fc.boolean(),
  };
  const made = fc.record(about).map(({ event: n, isMade, isRequest, ms, durationMs, outcome, ...rest }) => {
    const status = outcome === 'delivered' ? 200 : 503;
    const answered = { status, durationMs, response: `sealed ${ms}` };
    const of = isMade || outcome === 'delivered' ? attempt(ms, answered) : null;
    const id = `msg_${n}_${rest.webhookId}`;
    const recovery = isRequest ? RECOVERY_OF[rest.chain] : undefined;
    return entry(n, {
      ...rest,
      recovery,
      id,
      outcome,
      attempt: of,
      place: placeAt(ms),
    });
  });
  return fc.oneof({ weight: 1, arbitrary: routed }, { weight: 4, arbitrary: made });
}

/** By chain, which one request begins. */
const RECOVERY_OF = [undefined, 'r1', 'r2', undefined];

const placeAt = (ms: number) => ({ partition: ms % 3, offset: ms, timestamp: NOW + ms });
