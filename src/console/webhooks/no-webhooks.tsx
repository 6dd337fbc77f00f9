import { Icon } from '../icons/icon.js';
import { Notice } from '../parts/notice.js';
import { may } from '../state/session.js';
import { webhookTexts } from '../texts/webhooks.js';
import { Receivers } from './lazily.js';

export function NoWebhooks({ onAdd }: { onAdd: () => void }) {
  const t = webhookTexts.value;
  return (
    <div class="stack">
      <Notice icon="webhook" title={t.none.title}>
        <p>{may('configure') ? t.none.text : t.none.noRight}</p>
        {may('configure') && (
          <button type="button" class="button primary" onClick={onAdd}>
            <Icon name="add" size={14} />
            {t.add}
          </button>
        )}
      </Notice>
      <Receivers />
    </div>
  );
}
