/** The numbers of a chart: of the point that is read, and all of them as a table. */
import type { ChartParts, Series } from './chart-parts.js';

/** The numbers of one point of time. */
export function Reading({ times, series, shownTime, shownValue, index }: ChartParts & { index: number }) {
  const time = times[index];
  return (
    <p class={index < times.length / 2 ? 'chart-reading' : 'chart-reading at-start'} aria-hidden="true">
      <b>{time && shownTime(time)}</b>
      <span class="legend">
        {series.map(({ name, tone, values }) => (
          <span key={name} class={tone}>
            {name} <b>{valueAt(values, index, shownValue)}</b>
          </span>
        ))}
      </span>
    </p>
  );
}

export function readAloud({ times, series, shownTime, shownValue }: ChartParts, index: number): string {
  const time = times[index];
  const values = series.map(({ name, values }) => `${name}: ${valueAt(values, index, shownValue)}`);
  return [time && shownTime(time), ...values].join(', ');
}

export function ChartTable({ title, times, series, shownTime, shownValue }: ChartParts) {
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
                <td key={name}>{valueAt(values, index, shownValue)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function valueAt(values: Series['values'], index: number, shownValue: ChartParts['shownValue']): string {
  const value = values[index];
  return value == null ? '–' : shownValue(value);
}
