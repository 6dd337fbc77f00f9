import { Segmented } from '../parts/segmented.js';
import { texts } from '../texts/texts.js';
import { type Filters, filteredAddress, OUTCOMES } from './filters.js';

const TABS = ['all', ...OUTCOMES] as const;

export function OutcomeTabs({ filters }: { filters: Filters }) {
  const t = texts.value.deliveries;
  return (
    <Segmented
      label={t.outcome}
      chosen={TABS.find((outcome) => outcome === filters.outcome) ?? 'all'}
      options={TABS.map((tab) => [tab, t.tabs[tab]] as const)}
      hrefOf={(tab) => filteredAddress(filters, { outcome: tab === 'all' ? undefined : tab })}
    />
  );
}
