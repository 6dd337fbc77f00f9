import { ticks } from 'd3-array';
import { useId } from 'preact/hooks';
import type { ChartParts, Series } from './chart-parts.js';
import { ChartTable } from './chart-table.js';
import { useWidth } from './use-width.js';

const HEIGHT = 168;
const LEFT = 48;
const BOTTOM = 22;
const TOP = 8;
const INNER = HEIGHT - TOP - BOTTOM;

/** Stacked bars or lines over time; its numbers follow as a table for screen readers. */
export function Chart(parts: ChartParts) {
  const { title, form, times, series } = parts;
  const id = useId();
  const [frame, width] = useWidth();
  const highest = Math.max(1, ...times.map((_, index) => heightAt(series, index, form)));
  const marks = ticks(0, highest, 3);
  const top = Math.max(highest, marks.at(-1) ?? 1);
  const y = (value: number) => TOP + INNER * (1 - value / top);
  const step = (width - LEFT) / Math.max(1, times.length);
  const x = (index: number) => LEFT + step * index;
  return (
    <figure class="chart" aria-labelledby={id}>
      <figcaption id={id} class="split">
        <span>{title}</span>
        <Legend series={series} />
      </figcaption>
      <svg ref={frame} height={HEIGHT} aria-hidden="true">
        {marks.map((mark) => (
          <g key={mark} class="axis">
            <line x1={LEFT} x2={width} y1={y(mark)} y2={y(mark)} />
            <text x={LEFT - 8} y={y(mark) + 4}>
              {parts.shownValue(mark)}
            </text>
          </g>
        ))}
        {form === 'bars' ? <Bars {...parts} x={x} y={y} step={step} /> : <Lines {...parts} x={x} y={y} step={step} />}
        <TimeAxis {...parts} x={x} most={Math.floor(width / 90)} />
      </svg>
      <ChartTable {...parts} />
    </figure>
  );
}

function heightAt(series: readonly Series[], index: number, form: ChartParts['form']): number {
  const values = series.map(({ values }) => values[index] ?? 0);
  return form === 'bars' ? values.reduce((sum, value) => sum + value, 0) : Math.max(0, ...values);
}

function Legend({ series }: Pick<ChartParts, 'series'>) {
  return (
    <span class="cluster note legend">
      {series.map(({ name, tone }) => (
        <span key={name} class={tone}>
          {name}
        </span>
      ))}
    </span>
  );
}

interface Drawn extends ChartParts {
  readonly x: (index: number) => number;
  readonly y: (value: number) => number;
  readonly step: number;
}

function Bars({ times, series, shownTime, shownValue, x, y, step }: Drawn) {
  const gap = Math.min(3, step * 0.25);
  return times.map((time, index) => {
    let below = 0;
    const said = series.map(({ name, values }) => `${name}: ${shownValue(values[index] ?? 0)}`);
    return (
      <g key={time.getTime()} class="bar">
        <title>{[shownTime(time), ...said].join('\n')}</title>
        <rect class="hit" x={x(index)} y={TOP} width={step} height={INNER} />
        {series.map(({ name, tone, values }) => {
          const from = below;
          below += values[index] ?? 0;
          const height = y(from) - y(below);
          return (
            height > 0 && (
              <rect
                key={name}
                class={tone}
                x={x(index) + gap / 2}
                y={y(below)}
                width={step - gap}
                height={Math.max(1, height)}
              />
            )
          );
        })}
      </g>
    );
  });
}

function Lines({ series, x, y, step }: Drawn) {
  return series.map(({ name, tone, values }) => {
    const points = values.map((value, index) => (value === null ? null : `${x(index) + step / 2} ${y(value)}`));
    return <path key={name} class={`line ${tone}`} d={pathThrough(points)} />;
  });
}

/** Broken where there is no point. One alone is a dot, by the line's round ends. */
function pathThrough(points: readonly (string | null)[]): string {
  const moved = points.map((point, index) =>
    point === null ? '' : `${points[index - 1] == null ? 'M' : 'L'}${point}`,
  );
  return moved.map((step, index) => (step.startsWith('M') && points[index + 1] == null ? `${step}h0` : step)).join('');
}

function TimeAxis({ times, shownTime, x, most }: ChartParts & Pick<Drawn, 'x'> & { most: number }) {
  const every = Math.ceil(times.length / Math.max(1, most));
  return times.map((time, index) =>
    index % every === 0 ? (
      <text key={time.getTime()} x={x(index)} y={HEIGHT - 4}>
        {shownTime(time)}
      </text>
    ) : null,
  );
}
