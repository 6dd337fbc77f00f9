import { useLocation } from 'preact-iso/router';
import { Icon } from '../icons/icon.js';
import { Select } from '../parts/inputs.js';
import { Loaded, ScreenHead, Skeleton, staleness } from '../parts/screen-head.js';
import { MED } from '../payments/filters.js';
import { Recoveries } from '../recover/recovering.js';
import { addressOf } from '../state/addresses.js';
import { now } from '../state/now.js';
import { useGot } from '../state/polled.js';
import { useUrls } from '../state/urls.js';
import { texts } from '../texts/texts.js';
import { Charts, RANGES, type Range, rangeOf, spanOf } from './charts.js';
import { Figures } from './figures.js';
import { Problems } from './problems.js';

export function OverviewScreen() {
  const { query, route } = useLocation();
  const range = rangeOf(query.range);
  const span = spanOf(range, now.value);
  const { of, urls, isHealthKnown, look } = useUrls();
  const asked = { from: span.from, to: span.to, step: RANGES[range].step };
  const stats = useGot('/api/stats', { query: asked }, { keepsLast: true });
  const t = texts.value.overview;
  const hasTraffic = stats.data?.dataSince !== null;
  return (
    <>
      <ScreenHead title={t.title} of={of.failure ? of : stats} />
      {urls && isHealthKnown ? (
        <div class={`stack${staleness(of)}`}>
          <Recoveries urls={urls} />
          <Problems urls={urls} onChanged={look} />
          {/* They have deadlines, so they stand apart from payments. */}
          <a class="card cluster" href={addressOf('/payments', { arrived: 'nowhere', eventType: MED })}>
            {t.med} <Icon name="next" size={14} />
          </a>
        </div>
      ) : (
        <Skeleton of={of} />
      )}
      {hasTraffic && (
        <>
          <div class="split">
            <h2>{t.traffic}</h2>
            <Select
              label={t.traffic}
              chosen={range}
              options={(Object.keys(RANGES) as Range[]).map((name) => [name, t.ranges[name]])}
              onChoose={(name) => route(addressOf('', { range: name === '24h' ? null : name }))}
            />
          </div>
          <Loaded of={stats}>
            {(counted) => (
              <>
                <Figures stats={counted} urls={urls ?? []} range={range} />
                <Charts stats={[counted]} times={span.times} range={range} />
              </>
            )}
          </Loaded>
        </>
      )}
    </>
  );
}
