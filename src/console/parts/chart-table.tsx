import type { ChartParts } from './chart-parts.js';

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
              {series.map(({ name, values }) => {
                const value = values[index];
                return <td key={name}>{value == null ? '–' : shownValue(value)}</td>;
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
