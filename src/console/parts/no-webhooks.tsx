import { addressOf } from '../state/addresses.js';
import { may } from '../state/session.js';
import { texts } from '../texts/texts.js';
import { Notice } from './notice.js';

/** @param onAdd absent: a link leads to the list, where one is added */
export function NoWebhooks({ onAdd }: { onAdd?: () => void }) {
  const t = texts.value.problems.noWebhooks;
  return (
    <Notice icon="webhook" title={t.title}>
      <p>{may('configure') ? t.text : t.noRight}</p>
      {may('configure') &&
        (onAdd ? (
          <button type="button" class="button primary" onClick={onAdd}>
            {t.add}
          </button>
        ) : (
          <a class="button primary" href={addressOf('/webhooks')}>
            {t.add}
          </a>
        ))}
    </Notice>
  );
}
