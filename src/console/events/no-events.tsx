import { Notice } from '../parts/notice.js';
import { eventTexts } from '../texts/events.js';
import { texts } from '../texts/texts.js';
import { type EventFilterSet, eventsAddress, isFiltered } from './filters.js';

export function NoEvents({ filters }: { filters: EventFilterSet }) {
  const t = eventTexts.value;
  const { deliveries } = texts.value;
  if (!isFiltered(filters)) {
    return (
      <Notice icon="empty" title={t.none.title}>
        <p>{t.none.text}</p>
        <a class="button" href={eventsAddress({ tab: 'types' })}>
          {t.seeTypes}
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
