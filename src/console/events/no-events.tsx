import { Notice } from '../parts/notice.js';
import { texts } from '../texts/texts.js';
import { type EventFilterSet, eventsAddress, isFiltered } from './filters.js';

export function NoEvents({ filters }: { filters: EventFilterSet }) {
  const { deliveries, events } = texts.value;
  if (!isFiltered(filters)) {
    return (
      <Notice icon="empty" title={events.none.title}>
        <p>{events.none.text}</p>
        <a class="button" href={eventsAddress({ tab: 'types' })}>
          {events.seeTypes}
        </a>
      </Notice>
    );
  }
  return (
    <Notice icon="search" title={deliveries.noMatch.title}>
      <p>
        {filters.eventId && deliveries.noMatch.exact} {deliveries.noMatch.advice(Boolean(filters.from ?? filters.to))}
      </p>
      <a class="button" href={eventsAddress({})}>
        {deliveries.clear}
      </a>
    </Notice>
  );
}
