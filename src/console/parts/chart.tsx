import { DataTable } from './table.js';

interface Series {
  readonly name: string;
  readonly tone: string;
  /** One for each point of time; null: there is none. */
  readonly values: readonly (number | null)[];
}

export interface ChartParts {
  readonly title: string;
  /** Each series stands on the one before. Otherwise it stands in front of it, and is lower. */
  readonly isStacked?: boolean;
  readonly times: readonly Date[];
  readonly series: readonly Series[];
  /** In the table. */
  readonly shownTime: (time: Date) => string;
  /** Below the axis, where there is little room. */
  readonly axisTime: (time: Date) => string;
  readonly shownValue: (value: number) => string;
}

const HEIGHT = 168;
const BOTTOM = 22;
const TOP = 8;
const INNER = HEIGHT - TOP - BOTTOM;
const MARKS = 3;
/** As many as a phone has room for. */
const MOST_TIMES = 4;

/** Bars over time, as wide as there is room; all of their numbers follow as a table for screen readers. */
export function Chart(parts: ChartParts) {
  return (
    <figure class="chart">
      <figcaption class="split">
        <span>{parts.title}</span>
        <span class="cluster note legend">
          {parts.series.map(({ name, tone }) => (
            <span key={name} class={tone}>
              {name}
            </span>
          ))}
        </span>
      </figcaption>
      <svg height={HEIGHT} aria-hidden="true">
        <Drawing {...parts} />
      </svg>
      <div class="unseen">
        <Numbers {...parts} />
      </div>
    </figure>
  );
}

function Drawing({ times, series, isStacked = false, axisTime, shownValue }: ChartParts) {
  const bars = times.flatMap((_, index) => barsAt(series, index, isStacked));
  const highest = Math.max(0, ...bars.map(({ to }) => to));
  const marks = marksTo(highest);
  const top = Math.max(highest, marks.at(-1) ?? 0) || 1;
  const y = (value: number) => TOP + INNER * (1 - value / top);
  const x = (index: number) => `${(100 * index) / times.length}%`;
  const every = Math.ceil(times.length / MOST_TIMES);
  return (
    <>
      {marks.map((mark) => (
        <g key={mark} class="axis">
          <line x2="100%" y1={y(mark)} y2={y(mark)} />
          <text x={-8} y={y(mark) + 4}>
            {shownValue(mark)}
          </text>
        </g>
      ))}
      {bars.map(({ tone, index, from, to }) => {
        const height = Math.max(1, y(from) - y(to));
        return (
          <rect key={`${index} ${tone}`} class={tone} x={x(index + 0.1)} width={x(0.8)} y={y(to)} height={height} />
        );
      })}
      {times.map((time, index) =>
        index % every === 0 ? (
          <text key={index} x={x(index)} y={HEIGHT - 4}>
            {axisTime(time)}
          </text>
        ) : null,
      )}
    </>
  );
}

/** From where to where each series stands; those that have nothing are left out. */
function barsAt(series: readonly Series[], index: number, isStacked: boolean) {
  let below = 0;
  const bars = series.map(({ tone, values }) => {
    const from = isStacked ? below : 0;
    below = from + (values[index] ?? 0);
    return { tone, index, from, to: below };
  });
  return bars.filter(({ from, to }) => to > from);
}

/** Round whole numbers from 0 on, some three of them; none where there is nothing. */
function marksTo(highest: number): readonly number[] {
  if (highest <= 0) return [];
  const rough = Math.max(1, highest / MARKS);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((round) => round * power).find((round) => round >= rough * 0.8) ?? rough;
  return Array.from({ length: Math.floor(highest / step) + 1 }, (_, index) => index * step);
}

function Numbers({ times, series, shownTime, shownValue }: ChartParts) {
  const shown = (value: number | null | undefined) => (value == null ? '–' : shownValue(value));
  return (
    <DataTable
      rows={times.map((time, index) => ({ time, index }))}
      columns={[
        { name: '', cell: ({ time }) => shownTime(time) },
        ...series.map(({ name, values }) => ({ name, cell: ({ index }: { index: number }) => shown(values[index]) })),
      ]}
      keyOf={({ index }) => String(index)}
    />
  );
}
