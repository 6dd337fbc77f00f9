import type { RefObject } from 'preact';
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';

interface Series {
  readonly name: string;
  readonly tone: string;
  /** One for each point of time; null: there is none. */
  readonly values: readonly (number | null)[];
}

export interface ChartParts {
  readonly title: string;
  readonly form: 'bars' | 'lines';
  readonly times: readonly Date[];
  readonly series: readonly Series[];
  /** In the table. */
  readonly shownTime: (time: Date) => string;
  /** Below the axis, where there is little room. */
  readonly axisTime: (time: Date) => string;
  readonly shownValue: (value: number) => string;
}

const HEIGHT = 168;
const LEFT = 48;
const BOTTOM = 22;
const TOP = 8;
const INNER = HEIGHT - TOP - BOTTOM;
const MARKS = 3;

/** Stacked bars or lines over time; all of its numbers follow as a table for screen readers. */
export function Chart(parts: ChartParts) {
  const { title, form, times, series } = parts;
  const id = useId();
  const [frame, width] = useWidth();
  const highest = Math.max(0, ...times.map((_, index) => heightAt(series, index, form)));
  const marks = marksTo(highest);
  const top = Math.max(highest, marks.at(-1) ?? 0) || 1;
  const y = (value: number) => TOP + INNER * (1 - value / top);
  const step = Math.max(0, width - LEFT) / Math.max(1, times.length);
  const x = (index: number) => LEFT + step * index;
  return (
    <figure class="chart" aria-labelledby={id}>
      <figcaption id={id} class="split">
        <span>{title}</span>
        <span class="cluster note legend">
          {series.map(({ name, tone }) => (
            <span key={name} class={tone}>
              {name}
            </span>
          ))}
        </span>
      </figcaption>
      <svg ref={frame} height={HEIGHT} aria-hidden="true">
        {width > LEFT && (
          <>
            {marks.map((mark) => (
              <g key={mark} class="axis">
                <line x1={LEFT} x2={width} y1={y(mark)} y2={y(mark)} />
                <text x={LEFT - 8} y={y(mark) + 4}>
                  {parts.shownValue(mark)}
                </text>
              </g>
            ))}
            {form === 'bars' ? (
              <Bars series={series} times={times} x={x} y={y} step={step} />
            ) : (
              <Lines series={series} x={x} y={y} step={step} />
            )}
            <TimeAxis {...parts} x={x} most={Math.floor(width / 90)} />
          </>
        )}
      </svg>
      <ChartTable {...parts} />
    </figure>
  );
}

function heightAt(series: readonly Series[], index: number, form: ChartParts['form']): number {
  const values = series.map(({ values }) => values[index] ?? 0);
  return form === 'bars' ? values.reduce((sum, value) => sum + value, 0) : Math.max(0, ...values);
}

/** Round numbers from 0 on, some three of them; none where there is nothing. */
function marksTo(highest: number): readonly number[] {
  if (highest <= 0) return [];
  const rough = highest / MARKS;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((round) => round * power).find((round) => round >= rough * 0.8) ?? rough;
  return Array.from({ length: Math.floor(highest / step) + 1 }, (_, index) => index * step);
}

interface Drawn {
  readonly series: readonly Series[];
  readonly x: (index: number) => number;
  readonly y: (value: number) => number;
  readonly step: number;
}

function Bars({ times, series, x, y, step }: Drawn & Pick<ChartParts, 'times'>) {
  const gap = Math.min(3, step * 0.25);
  return times.map((time, index) => {
    let below = 0;
    return (
      <g key={time.getTime()}>
        {series.map(({ name, tone, values }) => {
          const from = below;
          below += values[index] ?? 0;
          const height = y(from) - y(below);
          if (height <= 0) return null;
          const [left, wide] = [x(index) + gap / 2, step - gap];
          return <rect key={name} class={tone} x={left} y={y(below)} width={wide} height={Math.max(1, height)} />;
        })}
      </g>
    );
  });
}

function Lines({ series, x, y, step }: Drawn) {
  return series.map(({ name, tone, values }) => (
    <path key={name} class={`line ${tone}`} d={pathThrough(values, (at) => x(at) + step / 2, y)} />
  ));
}

/** Broken where there is no value; one that stands alone is a dot, as the ends of lines are round. */
function pathThrough(values: Series['values'], x: Drawn['x'], y: Drawn['y']): string {
  const points = values.map((value, at) => {
    if (value === null) return '';
    const isFirst = values[at - 1] == null;
    return `${isFirst ? 'M' : 'L'}${x(at)} ${y(value)}${isFirst ? 'h0' : ''}`;
  });
  return points.join('');
}

function TimeAxis({ times, axisTime, x, most }: ChartParts & Pick<Drawn, 'x'> & { most: number }) {
  const every = Math.ceil(times.length / Math.max(1, most));
  return times.map((time, index) =>
    index % every === 0 ? (
      <text key={time.getTime()} x={x(index)} y={HEIGHT - 4}>
        {axisTime(time)}
      </text>
    ) : null,
  );
}

function ChartTable({ title, times, series, shownTime, shownValue }: ChartParts) {
  const shown = (value: number | null | undefined) => (value == null ? '–' : shownValue(value));
  return (
    <div class="unseen">
      <table>
        <caption>{title}</caption>
        <thead>
          <tr>
            <td />
            {series.map(({ name }) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {times.map((time, index) => (
            <tr key={time.getTime()}>
              <th scope="row">{shownTime(time)}</th>
              {series.map(({ name, values }) => (
                <td key={name}>{shown(values[index])}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The width of an element, in CSS pixels: a drawing that is scaled would scale its text too. 0: not known yet. */
function useWidth(): [RefObject<SVGSVGElement | null>, number] {
  const frame = useRef<SVGSVGElement>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const observer = new ResizeObserver(([entry]) => entry && setWidth(Math.round(entry.contentRect.width)));
    if (frame.current) observer.observe(frame.current);
    return () => observer.disconnect();
  }, []);
  return [frame, width];
}
