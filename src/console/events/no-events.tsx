import { Notice } from '../parts/notice.js';
import { texts } from '../texts/texts.js';
import { type EventFilterSet, eventsAddress, isFiltered } from './filters.js';

export function NoEvents({ filters }: { filters: EventFilterSet }) {
  const t = texts.value;
  const isSearch = isFiltered(filters);
  const { title, text } = isSearch ? t.events.noMatch : t.events.none;
  return (
    <Notice icon={isSearch ? 'search' : 'empty'} title={title}>
      <p>{text}</p>
      <a class="button" href={eventsAddress(isSearch ? {} : { tab: 'types' })}>
        {isSearch ? t.deliveries.clear : t.events.seeTypes}
      </a>
    </Notice>
  );
}
