import { useLocation } from 'preact-iso/router';
import { staleness } from '../parts/freshness.js';
import { ScreenHead } from '../parts/screen-head.js';
import { Skeleton } from '../parts/skeleton.js';
import { now } from '../state/now.js';
import { useGot } from '../state/polled.js';
import { texts } from '../texts/texts.js';
import { DeliveryTable } from './delivery-table.js';
import { FilterBar } from './filter-bar.js';
import { askedOf, filteredAddress, filtersOf } from './filters.js';
import { NoDeliveries } from './no-deliveries.js';
import { OutcomeTabs } from './outcome-tabs.js';
import { Pager } from './pager.js';
import { ResendSelected } from './resend-selected.js';
import { useSelection } from './use-selection.js';

export function DeliveriesScreen() {
  const { query, url } = useLocation();
  const filters = filtersOf(query);
  const page = useGot('/api/deliveries', { query: askedOf(filters, now.value) }, { keepsLast: true });
  const deliveries = page.data?.deliveries ?? [];
  const { chosen, choose } = useSelection(url, deliveries);
  return (
    <>
      <ScreenHead title={texts.value.screens.deliveries} of={page} />
      <OutcomeTabs filters={filters} />
      <FilterBar filters={filters} />
      {page.data === null ? (
        page.failure === null && <Skeleton lines={8} />
      ) : deliveries.length === 0 && !page.data.next && !filters.before ? (
        <NoDeliveries filters={filters} />
      ) : (
        <section class={`card flush${staleness(page)}`}>
          <DeliveryTable deliveries={deliveries} chosen={chosen} onChoose={choose} />
          <Pager
            newest={filters.before ? filteredAddress(filters) : null}
            older={page.data.next && filteredAddress(filters, { before: page.data.next })}
            shown={deliveries.length}
          />
        </section>
      )}
      <ResendSelected key={url} chosen={chosen} onChoose={choose} />
    </>
  );
}
