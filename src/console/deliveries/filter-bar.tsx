import { useLocation } from 'preact-iso/router';
import { isolated } from '../format/untrusted.js';
import { Icon } from '../icons/icon.js';
import { CopyButton } from '../parts/copy-button.js';
import { splitUrl } from '../parts/url-text.js';
import { useWebhooks } from '../state/webhooks.js';
import { texts } from '../texts/texts.js';
import { EventIdSearch } from './event-id-search.js';
import { type Filters, filteredAddress, isFiltered, PERIODS } from './filters.js';

const STATUSES = ['2xx', '3xx', '4xx', '5xx', 'none'] as const;

export function FilterBar({ filters }: { filters: Filters }) {
  const { route } = useLocation();
  const webhooks = useWebhooks().data?.webhooks ?? [];
  const t = texts.value;
  const set = (change: Filters) => route(filteredAddress(filters, change));
  const eventTypes = Object.entries(t.eventTypes);
  return (
    <search class="cluster filters">
      <EventIdSearch given={filters.eventId ?? ''} onSearch={(eventId) => set({ eventId })} />
      <Filter
        label={t.deliveries.event}
        chosen={filters.eventType}
        options={eventTypes}
        onChoose={(eventType) => set({ eventType })}
      />
      <Filter
        label={t.deliveries.webhook}
        chosen={filters.webhookId}
        options={webhooks.map(({ id, url, type }) => [
          String(id),
          // The list cuts them off at the end: hosts are often all the same.
          [t.eventTypes[type], ...splitUrl(url).toReversed()].filter(Boolean).map(isolated).join(' · '),
        ])}
        onChoose={(webhookId) => set({ webhookId })}
      />
      <Filter
        label={t.deliveries.lastAnswer}
        chosen={filters.status}
        options={STATUSES.map((status) => [status, t.deliveries.statuses[status]])}
        onChoose={(status) => set({ status })}
      />
      <Filter
        label={t.deliveries.period}
        chosen={filters.period}
        options={Object.keys(PERIODS).map((name) => [name, t.deliveries.periods[name as keyof typeof PERIODS]])}
        onChoose={(period) => set({ period })}
      />
      {isFiltered({ ...filters, outcome: undefined }) && (
        <a class="button ghost" href={filteredAddress({ outcome: filters.outcome })}>
          <Icon name="close" size={14} />
          {t.resending.clear}
        </a>
      )}
      <CopyButton what={t.delivery.link} value={() => location.href} />
    </search>
  );
}

interface FilterParts {
  readonly label: string;
  readonly chosen: string | undefined;
  readonly options: readonly (readonly [string, string])[];
  readonly onChoose: (option: string) => void;
}

export function Filter({ label, chosen = '', options, onChoose }: FilterParts) {
  return (
    <select
      class={chosen ? 'filter set' : 'filter'}
      aria-label={label}
      value={chosen}
      onChange={({ currentTarget }) => onChoose(currentTarget.value)}
    >
      <option value="">{label}</option>
      {options.map(([option, text]) => (
        <option key={option} value={option}>
          {text}
        </option>
      ))}
    </select>
  );
}
