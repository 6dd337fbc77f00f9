import { useLocation } from 'preact-iso/router';
import { LinkButton } from '../parts/button.js';
import { CopyButton } from '../parts/copy-button.js';
import { Select, TimeInput } from '../parts/inputs.js';
import { isolated, splitUrl } from '../parts/text.js';
import { useUrls } from '../state/urls.js';
import { texts } from '../texts/texts.js';
import { ARRIVED, type Filters, isFiltered, MED, PERIODS, paymentsAddress, STATUSES } from './filters.js';

export function FilterBar({ filters }: { filters: Filters }) {
  const { route } = useLocation();
  const urls = useUrls().urls ?? [];
  const { payments: t, eventTypes, arrived, errors, delivery } = texts.value;
  const set = (change: Filters) => route(paymentsAddress(filters, change));
  return (
    <search class="cluster">
      <Filter
        label={t.arrivedHead}
        chosen={filters.arrived}
        options={[['incomplete', t.incomplete], ...ARRIVED.map((one) => [one, arrived[one]] as const)]}
        onChoose={(one) => set({ arrived: one })}
      />
      <Filter
        label={t.type}
        chosen={filters.eventType}
        options={[...Object.entries(eventTypes), [MED, t.allMed]]}
        onChoose={(eventType) => set({ eventType })}
      />
      <Filter
        label="URL"
        chosen={filters.url}
        // The list cuts them off at the end: hosts are often all the same.
        options={urls.map(({ url }) => [url, splitUrl(url).toReversed().filter(Boolean).map(isolated).join(' · ')])}
        onChoose={(url) => set({ url })}
      />
      <Filter
        label={t.answer}
        chosen={filters.status ?? filters.error}
        options={[
          ...STATUSES.map((one) => [one, one === 'none' ? t.noAnswer : one] as const),
          ...Object.entries(errors),
        ]}
        onChoose={(one) => {
          const isStatus = STATUSES.some((status) => status === one);
          set({ status: isStatus ? one : undefined, error: isStatus ? undefined : one });
        }}
      />
      <Filter
        label={t.anyTime}
        chosen={filters.period}
        options={Object.keys(PERIODS).map((name) => [name, t.periods[name as keyof typeof PERIODS]])}
        onChoose={(period) => set({ period, from: undefined, to: undefined })}
      />
      <TimeInput label={t.from} at={filters.from ?? ''} onChoose={(from) => set({ from, period: undefined })} />
      <TimeInput label={t.to} at={filters.to ?? ''} onChoose={(to) => set({ to, period: undefined })} />
      {isFiltered(filters) && <LinkButton href={paymentsAddress({})}>{t.clear}</LinkButton>}
      <CopyButton isNamed what={delivery.link} value={() => location.href} />
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
  return <Select label={label} kind="filter" chosen={chosen} options={[['', label], ...options]} onChoose={onChoose} />;
}
