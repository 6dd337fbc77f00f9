import { Charts } from '../overview/charts.js';
import { staleness } from '../parts/freshness.js';
import { Skeleton } from '../parts/skeleton.js';
import { texts } from '../texts/texts.js';
import { useDay } from './use-day.js';

export function LastDay({ webhookId }: { webhookId: number }) {
  const { times, stats } = useDay(webhookId);
  return (
    <section class="stack">
      <h2>{texts.value.deliveries.periods.day}</h2>
      {stats.data ? (
        <div class={staleness(stats)}>
          <Charts stats={stats.data} times={times} range="24h" />
        </div>
      ) : (
        <Skeleton lines={4} of={stats} />
      )}
    </section>
  );
}
