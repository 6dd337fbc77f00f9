import type { Stats } from '../api/shapes.js';
import { duration, whole } from '../format/numbers.js';
import { day, hourMinute, minute } from '../format/times.js';
import { Chart } from '../parts/chart.js';
import { texts } from '../texts/texts.js';

/** The periods that the Overview shows. */
export const RANGES = {
  '1h': { period: 'hour', step: '1m', stepMs: 60_000, steps: 60 },
  '24h': { period: 'day', step: '1h', stepMs: 3_600_000, steps: 24 },
  '7d': { period: 'week', step: '1h', stepMs: 3_600_000, steps: 168 },
} as const;

export type Range = keyof typeof RANGES;

export const rangeOf = (text: string | undefined): Range =>
  (Object.keys(RANGES) as Range[]).find((range) => range === text) ?? '24h';

/** Whole steps, the current one included. */
export function spanOf(range: Range, now: number): { from: string; to: string; times: Date[] } {
  const { stepMs, steps } = RANGES[range];
  const to = (Math.floor(now / stepMs) + 1) * stepMs;
  const times = Array.from({ length: steps }, (_, index) => new Date(to - (steps - index) * stepMs));
  return { from: new Date(to - steps * stepMs).toISOString(), to: new Date(to).toISOString(), times };
}

interface ChartsParts {
  /** Of several webhooks: one each. */
  readonly stats: readonly Stats[];
  readonly times: readonly Date[];
  readonly range: Range;
}

export function Charts({ stats, times, range }: ChartsParts) {
  const { charts: t, outcomes: names } = texts.value;
  const buckets = stats.flatMap((one) => one.buckets);
  const over = times.map((time) => buckets.filter(({ at }) => Date.parse(at) === time.getTime()));
  const counts = (name: 'delivered' | 'failedAttempts' | 'held') =>
    over.map((at) => at.reduce((sum, bucket) => sum + bucket[name], 0));
  // Percentiles have no sum: the slowest is shown.
  const slowest = (name: 'p50Ms' | 'p95Ms') =>
    over.map((at) => Math.max(0, ...at.map((bucket) => bucket[name] ?? 0)) || null);
  const [shownTime, axisTime] = range === '7d' ? [minute, day] : [hourMinute, hourMinute];
  const timed = { times, shownTime, axisTime };
  const since = stats.find(({ dataSince }) => dataSince)?.dataSince;
  return (
    <>
      <div class="columns">
        <section class="card">
          <Chart
            isStacked
            title={t.attempts}
            {...timed}
            shownValue={whole}
            series={[
              { name: names.delivered, tone: 'accent', values: counts('delivered') },
              { name: t.failed, tone: 'bad', values: counts('failedAttempts') },
              { name: names.held, tone: 'warn', values: counts('held') },
            ]}
          />
        </section>
        <section class="card">
          <Chart
            title={t.latency}
            {...timed}
            shownValue={duration}
            series={[
              { name: 'p95', tone: 'accent', values: slowest('p95Ms') },
              { name: 'p50', tone: 'muted', values: slowest('p50Ms') },
            ]}
          />
        </section>
      </div>
      {since && <p class="muted note">{t.since(minute(new Date(since)))}</p>}
    </>
  );
}
