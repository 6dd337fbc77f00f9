import { useLocation } from 'preact-iso/router';
import type { ParamsOf } from '../api/shapes.js';
import { Pager } from '../deliveries/pager.js';
import { staleness } from '../parts/freshness.js';
import { ScreenHead } from '../parts/screen-head.js';
import { Segmented } from '../parts/segmented.js';
import { Skeleton } from '../parts/skeleton.js';
import { useGot } from '../state/polled.js';
import { eventTexts } from '../texts/events.js';
import { texts } from '../texts/texts.js';
import { EventFilters } from './event-filters.js';
import { EventTable } from './event-table.js';
import { EventTypes } from './event-types.js';
import { eventsAddress, filtersOf } from './filters.js';
import { NoEvents } from './no-events.js';

/** Each look reads a page of payloads from their topic. */
const EVERY_MS = 15_000;

export function EventsScreen() {
  const { query } = useLocation();
  const isOfTypes = query.tab === 'types';
  const t = eventTexts.value;
  const tabs = (
    <Segmented
      label={texts.value.screens.events}
      chosen={isOfTypes ? 'types' : 'published'}
      options={[['published', t.tabs.published] as const, ['types', t.tabs.types] as const]}
      hrefOf={(tab) => eventsAddress({ ...filtersOf(query), tab: tab === 'types' ? tab : undefined })}
    />
  );
  return isOfTypes ? <EventTypes tabs={tabs} /> : <Published query={query} tabs={tabs} />;
}

function Published({ query, tabs }: { query: Record<string, string>; tabs: preact.ComponentChildren }) {
  const filters = filtersOf(query);
  const { tab: _, ...asked } = filters;
  // What stands in an address is anybody's text: the service says what is wrong with it.
  const params = { query: { limit: 50, ...asked } } as ParamsOf<'/api/events'>;
  const page = useGot('/api/events', params, { keepsLast: true, everyMs: EVERY_MS });
  const events = page.data?.events ?? [];
  return (
    <>
      <ScreenHead title={texts.value.screens.events} of={page} />
      {tabs}
      <EventFilters filters={filters} />
      {page.data === null ? (
        page.failure === null && <Skeleton lines={8} />
      ) : events.length === 0 && !page.data.next && !filters.before ? (
        <NoEvents filters={filters} />
      ) : (
        <section class={`card flush${staleness(page)}`}>
          <EventTable events={events} />
          <Pager
            newest={filters.before ? eventsAddress({ ...filters, before: undefined }) : null}
            older={page.data.next && eventsAddress({ ...filters, before: page.data.next })}
            shown={events.length}
          />
        </section>
      )}
    </>
  );
}
