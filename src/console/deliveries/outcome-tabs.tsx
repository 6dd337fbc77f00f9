import { Segmented } from '../parts/segmented.js';
import { texts } from '../texts/texts.js';
import { type Filters, filteredAddress } from './filters.js';

const OUTCOMES = ['retrying', 'exhausted', 'held', 'delivered', 'cancelled'] as const;

export function OutcomeTabs({ filters }: { filters: Filters }) {
  const t = texts.value;
  const chosen = OUTCOMES.find((outcome) => outcome === filters.outcome) ?? 'all';
  return (
    <Segmented
      label={t.deliveries.outcome}
      chosen={chosen}
      options={[
        ['all', t.deliveries.all] as const,
        ...OUTCOMES.map((outcome) => [outcome, t.outcomes[outcome]] as const),
      ]}
      hrefOf={(outcome) => filteredAddress(filters, { outcome: outcome === 'all' ? undefined : outcome })}
    />
  );
}
