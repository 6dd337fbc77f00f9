/**
 * URLs that take nothing for long, as cohorts: deliveries that were deferred for the same delay come back over the tenth of it
 * that is its jitter. The days are simulated with a tenth of the limit and of the deliveries, and ten seconds count as one.
 * In full, 20 a second came to 190 and 201 at most in a second (two seeds), 5 to 160, 1 to 149.
 */
import { DeferralPace } from '../../../src/delivery/retry/deferral-pace.js';
import { type Delay, deferralFor, delayOf, jittered } from '../../../src/delivery/retry/retry-schedule.js';
import { seeded } from '../../support/generators/seeded.js';

const DAY_S = 86_400;
const SCHEDULE = ['5s', '5m', '30m', '2h', '5h', '10h', '14h', '20h', '24h'].map((text) => delayOf(text) as Delay);
const OUTAGE = 'of one URL';
/** Of a URL that is away for a moment. */
const SHORT = { baseMs: 5_000, awayMs: 0, lastMs: 0 };

interface Past {
  /** New deliveries in each second. */
  readonly fresh: (second: number) => number;
  readonly seconds: number;
  readonly restartsAt?: number;
  readonly most?: { readonly url: number; readonly process: number };
  readonly seed?: number;
}

/** How many are deferred in each second, and how many seconds after the end each delivery that waits then is back. */
function deferrals({ fresh, seconds, restartsAt, most, seed = 1 }: Past) {
  const { below } = seeded(seed);
  const random = () => below(2 ** 20) / 2 ** 20;
  let second = 0;
  const started = () =>
    new DeferralPace({ schedule: SCHEDULE, monotonicNow: () => second * 1_000, ...(most && { most }) });
  let pace = started();
  const back = new Map<number, Map<number, number>>();
  const put = (at: number, ms: number) => {
    const due = back.get(at) ?? new Map<number, number>();
    back.set(at, due.set(ms, (due.get(ms) ?? 0) + 1));
  };
  const counts = new Uint32Array(seconds);
  const defer = (cameFromMs: number) => {
    const awayMs = second * 1_000;
    const base = deferralFor(awayMs);
    const delay = pace.longer(OUTAGE, { baseMs: base.ms, awayMs, lastMs: cameFromMs }) ?? base;
    put(second + Math.floor(jittered(delay, random) / 1_000), delay.ms);
    counts[second] = (counts[second] ?? 0) + 1;
  };
  for (; second < seconds; second += 1) {
    if (second === restartsAt) pace = started();
    for (let n = fresh(second); n > 0; n -= 1) defer(0);
    for (const [ms, count] of back.get(second) ?? []) for (let n = count; n > 0; n -= 1) defer(ms * 1.05);
    back.delete(second);
  }
  return { counts, backAfter: [...back.keys()].map((at) => at - seconds) };
}

/** Of all windows of so many seconds. */
function mostWithin(counts: Uint32Array, seconds: number): number {
  let [sum, most] = [0, 0];
  for (const [second, count] of counts.entries()) {
    sum += count - (counts[second - seconds] ?? 0);
    most = Math.max(most, sum);
  }
  return most;
}

const everyTenth = (second: number) => (second % 10 === 0 ? 1 : 0);

test.each([
  ['1', everyTenth],
  ['5', (second: number) => (second % 2 === 0 ? 1 : 0)],
  ['20', () => 2],
])(
  'away for 3 days with %s new deliveries a second, its dispatcher restarted: at most 200 deferrals a second',
  (_, fresh) => {
    const seconds = 3 * DAY_S;
    const most = { url: 20, process: 200 };
    const { counts } = deferrals({ fresh, seconds, restartsAt: seconds / 2, most });
    expect(mostWithin(counts, 10)).toBeLessThanOrEqual(200);
  },
);

test.each([
  ['at once', (second: number) => (second === 0 ? 500 : 0)],
  ['evenly', (second: number) => (second % 6 === 0 ? 25 : 0)],
])('away for 2 minutes with 500 that came %s: all are back within 6 s of its return', (_, fresh) => {
  const { backAfter } = deferrals({ fresh, seconds: 120 });
  expect(Math.max(...backAfter)).toBeLessThanOrEqual(5);
});

test('what waits for one URL does not delay another', () => {
  let second = 0;
  const pace = new DeferralPace({ schedule: SCHEDULE, monotonicNow: () => second * 1_000 });
  for (let n = 0; n < 180_000; n += 1) {
    second = Math.floor(n / 300);
    pace.longer('one', { ...SHORT, lastMs: 60_000 });
  }
  expect(pace.longer('one', { ...SHORT, baseMs: 60_000, lastMs: 60_000 })).not.toBeNull();
  expect(pace.longer('another', { ...SHORT, baseMs: 60_000, lastMs: 60_000 })).toBeNull();
});

test.each([
  ['a new one, the next longer than its time away asks for', 5_000, 0, '1m'],
  ['of 30m, the first of the schedule that is longer', 5_000, 1_800_000, '2h'],
  ['with a pause, too', 30_000, 0, '1m'],
])('a deferral goes one tier further at most: %s', (_, baseMs, lastMs, text) => {
  const pace = new DeferralPace({ schedule: SCHEDULE, monotonicNow: () => 0 });
  for (let n = 0; n < 10_000; n += 1)
    pace.longer(OUTAGE, { baseMs: 1_800_000, awayMs: 36_000_000, lastMs: 36_000_000 });
  expect(pace.longer(OUTAGE, { baseMs, awayMs: 0, lastMs })).toMatchObject({ text });
});

test('after a restart what comes back goes where it came from', () => {
  const pace = new DeferralPace({ schedule: SCHEDULE, monotonicNow: () => 0 });
  expect(pace.longer(OUTAGE, { baseMs: 1_800_000, awayMs: 36_000_000, lastMs: 36_000_000 })).toMatchObject({
    text: '10h',
  });
});

test('a forged time of the last deferral leads to the longest delay at most, and to none where its URL was not away for so long', () => {
  const pace = new DeferralPace({ schedule: SCHEDULE, monotonicNow: () => 0 });
  expect(pace.longer(OUTAGE, { ...SHORT, lastMs: 1e300 })).toBeNull();
  expect(pace.longer(OUTAGE, { ...SHORT, awayMs: 1e300, lastMs: 1e300 })).toMatchObject({ text: '24h' });
});
