import { useLocation } from 'preact-iso/router';
import { EventIdSearch } from '../deliveries/event-id-search.js';
import { Filter } from '../deliveries/filter-bar.js';
import { isoOf, localInput } from '../format/times.js';
import { Icon } from '../icons/icon.js';
import { eventTexts } from '../texts/events.js';
import { texts } from '../texts/texts.js';
import { type EventFilterSet, eventsAddress, isFiltered } from './filters.js';

export function EventFilters({ filters }: { filters: EventFilterSet }) {
  const { route } = useLocation();
  const t = texts.value;
  const set = (change: EventFilterSet) => route(eventsAddress({ ...filters, before: undefined, ...change }));
  return (
    <search class="cluster filters">
      <EventIdSearch given={filters.eventId ?? ''} onSearch={(eventId) => set({ eventId })} />
      <Filter
        label={t.deliveries.event}
        chosen={filters.eventType}
        options={Object.entries(t.eventTypes)}
        onChoose={(eventType) => set({ eventType })}
      />
      <TimeFilter label={eventTexts.value.from} given={filters.from} onChoose={(from) => set({ from })} />
      <TimeFilter label={eventTexts.value.to} given={filters.to} onChoose={(to) => set({ to })} />
      {isFiltered(filters) && (
        <a class="button ghost" href={eventsAddress({})}>
          <Icon name="close" size={14} />
          {t.resending.clear}
        </a>
      )}
    </search>
  );
}

interface TimeParts {
  readonly label: string;
  readonly given: string | undefined;
  readonly onChoose: (time: string) => void;
}

function TimeFilter({ label, given = '', onChoose }: TimeParts) {
  const time = new Date(given);
  return (
    <label class="cluster muted">
      <span>{label}</span>
      <input
        type="datetime-local"
        value={Number.isNaN(time.getTime()) ? '' : localInput(time)}
        onChange={({ currentTarget }) => onChoose(isoOf(currentTarget.value))}
      />
    </label>
  );
}
