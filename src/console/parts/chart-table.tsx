import { type ChartParts, valueAt } from './chart-parts.js';

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
