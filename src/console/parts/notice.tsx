import type { ComponentChildren } from 'preact';
import { Icon, type IconName } from '../icons/icon.js';
import { addressOf } from '../state/addresses.js';
import { may } from '../state/session.js';
import type { Texts } from '../texts/en.js';
import { texts } from '../texts/texts.js';

/** In place of content: why there is none, and what to do. */
export function Notice({ icon, title, children }: { icon: IconName; title: string; children?: ComponentChildren }) {
  return (
    <div class="notice">
      <span class="mark accent">
        <Icon name={icon} size={22} />
      </span>
      <h2>{title}</h2>
      {children}
    </div>
  );
}

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

/** In place of what the session may not see or do. */
export function MissingRight({ right }: { right: keyof Texts['missingRights'] }) {
  return (
    <p class="cluster muted note">
      <Icon name="lock" size={14} />
      {texts.value.missingRights[right]}
    </p>
  );
}
