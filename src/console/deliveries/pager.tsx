import { Icon } from '../icons/icon.js';
import { texts } from '../texts/texts.js';

interface PagerParts {
  /** Of the first page; null: this is it. */
  readonly newest: string | null;
  /** Of the next page; null: there is none. */
  readonly older: string | null;
  readonly shown: number;
}

/** Each page is an address: Back returns to the one before. */
export function Pager({ newest, older, shown }: PagerParts) {
  const t = texts.value.deliveries;
  if (!older && !newest) return <p class="cluster muted pager">{t.thatIsAll(shown)}</p>;
  return (
    <nav class="cluster muted pager" aria-label={t.pages}>
      {newest && (
        <a class="button" href={newest}>
          {t.newest}
        </a>
      )}
      {older && shown === 0 && <span>{t.noneHere}</span>}
      {older ? (
        <a class="button" href={older}>
          {t.older}
          <Icon name="next" size={14} />
        </a>
      ) : (
        <span>{t.oldest}</span>
      )}
    </nav>
  );
}
