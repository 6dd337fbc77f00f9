import type { Stats } from '../api/shapes.js';
import { compact, latency } from '../format/numbers.js';
import { day, hourMinute, minute } from '../format/times.js';
import { Chart } from '../parts/chart.js';
import { texts } from '../texts/texts.js';
import { inSteps, type Range } from './ranges.js';

export function Charts({ stats, times, range }: { stats: Stats; times: readonly Date[]; range: Range }) {
  const { charts: t, figures } = texts.value;
  const over = inSteps(stats, times);
  const [shownTime, axisTime] = range === '7d' ? [minute, day] : [hourMinute, hourMinute];
  const timed = { times, shownTime, axisTime };
  const latencies = [
    { name: 'p50', tone: 'calm', values: over.map((bucket) => bucket?.p50Ms ?? null) },
    { name: 'p95', tone: 'accent', values: over.map((bucket) => bucket?.p95Ms ?? null) },
  ];
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
              { name: t.delivered, tone: 'accent', values: over.map((bucket) => bucket?.delivered ?? 0) },
              { name: t.failed, tone: 'bad', values: over.map((bucket) => bucket?.failedAttempts ?? 0) },
              { name: figures.held, tone: 'warn', values: over.map((bucket) => bucket?.held ?? 0) },
            ]}
          />
        </section>
        <section class="card">
          <Chart form="lines" title={t.latency} {...timed} shownValue={latency} series={latencies} />
        </section>
      </div>
      {stats.dataSince && <p class="source muted note">{t.since(minute(new Date(stats.dataSince)))}</p>}
    </>
  );
}
