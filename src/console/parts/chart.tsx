import { ticks } from 'd3-array';
import type { RefObject, TargetedPointerEvent } from 'preact';
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Bars, Lines } from './chart-marks.js';
import { ChartTable, Reading, readAloud } from './chart-numbers.js';
import type { ChartParts, Drawn, Series } from './chart-parts.js';

const HEIGHT = 168;
const LEFT = 48;
const BOTTOM = 22;
const TOP = 8;
const INNER = HEIGHT - TOP - BOTTOM;

/**
 * Stacked bars or lines over time. The numbers of a point are read with the pointer or the arrow keys; all of them follow as
 * a table for screen readers.
 */
export function Chart(parts: ChartParts) {
  const { title, form, times, series } = parts;
  const id = useId();
  const [frame, width] = useWidth();
  const [read, setRead] = useState<number | null>(null);
  const last = Math.max(0, times.length - 1);
  const highest = Math.max(1, ...times.map((_, index) => heightAt(series, index, form)));
  const marks = ticks(0, highest, 3);
  const top = Math.max(highest, marks.at(-1) ?? 1);
  const y = (value: number) => TOP + INNER * (1 - value / top);
  const step = (width - LEFT) / Math.max(1, times.length);
  const x = (index: number) => LEFT + step * index;
  const point = ({ clientX, currentTarget }: TargetedPointerEvent<SVGSVGElement>) => {
    const index = Math.floor((clientX - currentTarget.getBoundingClientRect().left - LEFT) / step);
    setRead(index >= 0 && index <= last ? index : null);
  };
  return (
    <figure class="chart" aria-labelledby={id}>
      <figcaption id={id} class="split">
        <span>{title}</span>
        <Legend series={series} />
      </figcaption>
      <svg
        ref={frame}
        height={HEIGHT}
        aria-hidden="true"
        onPointerDown={point}
        onPointerMove={point}
        onPointerLeave={() => setRead(null)}
      >
        {read !== null && <rect class="hit" x={x(read)} y={TOP} width={step} height={INNER} />}
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
      {read !== null && <Reading {...parts} index={read} />}
      <input
        type="range"
        class="unseen"
        max={last}
        value={read ?? last}
        aria-label={title}
        aria-valuetext={readAloud(parts, read ?? last)}
        onFocus={() => setRead(last)}
        onInput={({ currentTarget }) => setRead(currentTarget.valueAsNumber)}
        onBlur={() => setRead(null)}
      />
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

/** The width of an element, in CSS pixels: a drawing that is scaled would scale its text too. */
function useWidth(): [RefObject<SVGSVGElement | null>, number] {
  const frame = useRef<SVGSVGElement>(null);
  const [width, setWidth] = useState(480);
  useLayoutEffect(() => {
    const observer = new ResizeObserver(([entry]) => entry && setWidth(Math.round(entry.contentRect.width)));
    if (frame.current) observer.observe(frame.current);
    return () => observer.disconnect();
  }, []);
  return [frame, width];
}
