import { useLocation } from 'preact-iso/router';
import { staleness } from '../parts/freshness.js';
import { part } from '../parts/lazily.js';
import { ScreenHead } from '../parts/screen-head.js';
import { Segmented } from '../parts/segmented.js';
import { Skeleton } from '../parts/skeleton.js';
import { RunningRecoveries } from '../recover/running-recoveries.js';
import { addressOf } from '../state/addresses.js';
import { now } from '../state/now.js';
import { useGot } from '../state/polled.js';
import { useHealth } from '../state/webhooks.js';
import { texts } from '../texts/texts.js';
import { Figures } from './figures.js';
import { Problems } from './problems.js';
import { RANGES, type Range, rangeOf, spanOf } from './ranges.js';

/** Problems and figures do not wait for it. */
const Disputes = part(async () => (await import('./disputes.js')).Disputes);
const Charts = part(async () => (await import('./charts.js')).Charts);

export function OverviewScreen() {
  const range = rangeOf(useLocation().query.range);
  const span = spanOf(range, now.value);
  const health = useHealth();
  const query = { from: span.from, to: span.to, step: RANGES[range].step };
  const stats = useGot('/api/stats', { query }, { keepsLast: true });
  const t = texts.value.overview;
  const hasTraffic = stats.data?.dataSince !== null;
  return (
    <>
      <ScreenHead title={t.title} of={health.failure ? health : stats} />
      {health.data ? (
        <div class={`stack close${staleness(health)}`}>
          <RunningRecoveries health={health.data.webhooks} />
          <Problems health={health.data.webhooks} onChanged={health.look} />
        </div>
      ) : (
        <Skeleton lines={2} />
      )}
      <Disputes />
      {hasTraffic && (
        <div class="section-head">
          <h2>{t.traffic}</h2>
          <Segmented<Range>
            label={t.range}
            chosen={range}
            options={(Object.keys(RANGES) as Range[]).map((name) => [name, t.ranges[name]])}
            hrefOf={(name) => addressOf('', { range: name === '24h' ? null : name })}
          />
        </div>
      )}
      {!hasTraffic ? null : stats.data ? (
        <div class={`stack${staleness(stats)}`}>
          <Figures stats={stats.data} health={health.data?.webhooks ?? []} range={range} />
          <Charts stats={stats.data} times={span.times} range={range} />
        </div>
      ) : (
        <Skeleton lines={6} />
      )}
    </>
  );
}
