import { Icon } from '../icons/icon.js';
import { texts } from '../texts/texts.js';
import { type Filters, filteredAddress } from './filters.js';

interface PagerParts {
  readonly filters: Filters;
  readonly next: string | null;
  readonly shown: number;
}

/** Each page is an address: Back returns to the one before. */
export function Pager({ filters, next, shown }: PagerParts) {
  const t = texts.value.deliveries;
  if (!next && !filters.before) return <p class="pager">{t.thatIsAll(shown)}</p>;
  return (
    <nav class="pager" aria-label={t.pages}>
      {filters.before && (
        <a class="button" href={filteredAddress(filters)}>
          {t.newest}
        </a>
      )}
      {next && shown === 0 && <span>{t.noneHere}</span>}
      {next ? (
        <a class="button" href={filteredAddress(filters, { before: next })}>
          {t.older}
          <Icon name="next" size={14} />
        </a>
      ) : (
        <span>{t.oldest}</span>
      )}
    </nav>
  );
}
