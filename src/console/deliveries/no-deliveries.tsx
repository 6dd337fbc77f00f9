import { isolated } from '../format/untrusted.js';
import { Notice } from '../parts/notice.js';
import { addressOf } from '../state/addresses.js';
import { texts } from '../texts/texts.js';
import { type Filters, filteredAddress, isFiltered } from './filters.js';

export function NoDeliveries({ filters }: { filters: Filters }) {
  const t = texts.value.deliveries;
  if (!isFiltered(filters)) {
    return (
      <Notice icon="empty" title={t.none.title}>
        <p>{t.none.text}</p>
        <a class="button" href={addressOf('/webhooks')}>
          {t.none.webhooks}
        </a>
      </Notice>
    );
  }
  return (
    <Notice icon="search" title={t.noMatch.title}>
      <p>
        {filters.eventId ? t.noMatch.eventId(isolated(filters.eventId)) : t.noMatch.advice(Boolean(filters.period))}
      </p>
      <a class="button" href={filteredAddress({})}>
        {t.clear}
      </a>
    </Notice>
  );
}
