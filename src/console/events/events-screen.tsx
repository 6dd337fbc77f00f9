import { useLocation } from 'preact-iso/router';
import { api, resultOf } from '../api/client.js';
import type { components, operations } from '../api/openapi.js';
import { Pager } from '../deliveries/pager.js';
import { Freshness, staleness } from '../parts/freshness.js';
import { Segmented } from '../parts/segmented.js';
import { Skeleton } from '../parts/skeleton.js';
import { type Asking, usePolled } from '../state/polled.js';
import { texts } from '../texts/texts.js';
import { EventFilters } from './event-filters.js';
import { EventTable } from './event-table.js';
import { EventTypes } from './event-types.js';
import { eventsAddress, filtersOf } from './filters.js';
import { NoEvents } from './no-events.js';

type Query = NonNullable<operations['listEvents']['parameters']['query']>;

/** Each look reads a page of payloads from their topic. */
const EVERY_MS = 15_000;

export function EventsScreen() {
  const { query } = useLocation();
  const isOfTypes = query.tab === 'types';
  const t = texts.value.events;
  const tabs = (
    <Segmented
      label={t.title}
      chosen={isOfTypes ? 'types' : 'published'}
      options={[['published', t.tabs.published] as const, ['types', t.tabs.types] as const]}
      hrefOf={(tab) => eventsAddress({ tab: tab === 'types' ? tab : undefined })}
    />
  );
  return isOfTypes ? <EventTypes tabs={tabs} /> : <Published query={query} tabs={tabs} />;
}

function Published({ query, tabs }: { query: Record<string, string>; tabs: preact.ComponentChildren }) {
  const filters = filtersOf(query);
  const { tab: _, ...asked } = filters;
  // What stands in an address is anybody's text: the service says what is wrong with it.
  const params = { query: { limit: 50, ...asked } as Query };
  const ask = (asking: Asking) => resultOf(api.GET('/api/events', { params, ...asking }));
  const key = `events ${JSON.stringify(asked)}`;
  const page = usePolled<components['schemas']['EventPage']>(key, ask, { keepsLast: true, everyMs: EVERY_MS });
  const events = page.data?.events ?? [];
  return (
    <>
      <header class="screen-head">
        <h1>{texts.value.events.title}</h1>
        <Freshness of={page} />
      </header>
      {tabs}
      <EventFilters filters={filters} />
      {page.data === null ? (
        <Skeleton lines={8} />
      ) : events.length === 0 && !page.data.next ? (
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
