import type { Drawn } from './chart-parts.js';

export function Bars({ times, series, x, y, step }: Pick<Drawn, 'times' | 'series' | 'x' | 'y' | 'step'>) {
  const gap = Math.min(3, step * 0.25);
  return times.map((time, index) => {
    let below = 0;
    return (
      <g key={time.getTime()}>
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

export function Lines({ series, x, y, step }: Drawn) {
  const middle = (index: number) => x(index) + step / 2;
  return series.map(({ name, tone, values }) => (
    <g key={name} class={tone}>
      <path
        class="line"
        d={pathThrough(values.map((value, at) => (value === null ? null : `${middle(at)} ${y(value)}`)))}
      />
      {values.map(
        (value, at) =>
          value !== null &&
          values[at - 1] == null &&
          values[at + 1] == null && <circle key={at} cx={middle(at)} cy={y(value)} r={3} />,
      )}
    </g>
  ));
}

/** Broken where there is no point. */
function pathThrough(points: readonly (string | null)[]): string {
  return points
    .map((point, index) => (point === null ? '' : `${points[index - 1] == null ? 'M' : 'L'}${point}`))
    .join('');
}
