import { Notice } from '../parts/notice.js';
import { addressOf } from '../state/addresses.js';
import { texts } from '../texts/texts.js';

export function NoWebhooks() {
  const t = texts.value.problems.noWebhooks;
  return (
    <Notice icon="webhook" title={t.title}>
      <p>{t.text}</p>
      <a class="button primary" href={addressOf('/webhooks')}>
        {t.add}
      </a>
    </Notice>
  );
}
