import type { Stats } from '../api/shapes.js';
import { compact, duration } from '../format/numbers.js';
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

type Counted = Pick<Stats['buckets'][number], 'delivered' | 'failedAttempts' | 'held' | 'p50Ms' | 'p95Ms'>;

/** What each step counted, of all webhooks that are in `buckets`; undefined: nothing. */
function inSteps({ buckets }: Stats, times: readonly Date[]): readonly (Counted | undefined)[] {
  return times.map((time) => {
    const [first, ...others]: readonly Counted[] = buckets.filter(({ at }) => Date.parse(at) === time.getTime());
    return first && others.reduce(joined, first);
  });
}

/** Percentiles have no sum: the slower is shown. */
function joined(one: Counted, other: Counted): Counted {
  const slower = (name: 'p50Ms' | 'p95Ms') => Math.max(one[name] ?? 0, other[name] ?? 0) || null;
  return {
    delivered: one.delivered + other.delivered,
    failedAttempts: one.failedAttempts + other.failedAttempts,
    held: one.held + other.held,
    p50Ms: slower('p50Ms'),
    p95Ms: slower('p95Ms'),
  };
}

export function Charts({ stats, times, range }: { stats: Stats; times: readonly Date[]; range: Range }) {
  const { charts: t, counts: names } = texts.value;
  const over = inSteps(stats, times);
  const [shownTime, axisTime] = range === '7d' ? [minute, day] : [hourMinute, hourMinute];
  const timed = { times, shownTime, axisTime };
  const counts = (name: 'delivered' | 'failedAttempts' | 'held') => over.map((bucket) => bucket?.[name] ?? 0);
  return (
    <>
      <div class="columns">
        <section class="card">
          <Chart
            form="bars"
            title={t.attempts}
            {...timed}
            shownValue={compact}
            series={[
              { name: names.delivered, tone: 'accent', values: counts('delivered') },
              { name: t.failed, tone: 'bad', values: counts('failedAttempts') },
              { name: names.held, tone: 'warn', values: counts('held') },
            ]}
          />
        </section>
        <section class="card">
          <Chart
            form="lines"
            title={t.latency}
            {...timed}
            shownValue={duration}
            series={[
              { name: 'p50', tone: 'calm', values: over.map((bucket) => bucket?.p50Ms ?? null) },
              { name: 'p95', tone: 'accent', values: over.map((bucket) => bucket?.p95Ms ?? null) },
            ]}
          />
        </section>
      </div>
      {stats.dataSince && <p class="source muted note">{t.since(minute(new Date(stats.dataSince)))}</p>}
    </>
  );
}
