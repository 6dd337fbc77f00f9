import { whole } from '../format/numbers.js';
import { Bars } from '../parts/chart-marks.js';
import { webhookTexts } from '../texts/webhooks.js';
import { summaryOf, useDay } from './use-day.js';

const WIDTH = 96;
const HEIGHT = 26;

/** What was delivered and what failed in each of the last 24 hours, without axes: a row has no room for them. */
export function DayBars({ webhookId }: { webhookId: number }) {
  const { times, stats } = useDay(webhookId);
  if (!stats.data) return <span class="day-bars" />;
  const { hours, delivered, failed } = summaryOf(stats.data, times);
  const highest = Math.max(1, ...hours.map((hour) => (hour ? hour.delivered + hour.failedAttempts : 0)));
  const step = WIDTH / times.length;
  const series = [
    { name: 'delivered', tone: 'accent', values: hours.map((hour) => hour?.delivered ?? 0) },
    { name: 'failed', tone: 'bad', values: hours.map((hour) => hour?.failedAttempts ?? 0) },
  ];
  return (
    <svg class="chart day-bars" role="img" width={WIDTH} height={HEIGHT}>
      <title>{webhookTexts.value.day(whole(delivered), whole(failed))}</title>
      <Bars
        times={times}
        series={series}
        x={(index) => step * index}
        y={(value) => HEIGHT * (1 - value / highest)}
        step={step}
      />
    </svg>
  );
}
