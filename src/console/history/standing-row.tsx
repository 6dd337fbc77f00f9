import { isolated } from '../format/untrusted.js';
import { CopyButton } from '../parts/copy-button.js';
import { EventName } from '../parts/event-name.js';
import { UrlText } from '../parts/url-text.js';
import { texts } from '../texts/texts.js';
import { namesOf, type Standing, valuesOf } from './compared.js';

const TONES = { same: '', added: 'good', removed: 'bad', changed: 'warn' } as const;

export function StandingRow({ standing }: { standing: Standing }) {
  const { webhook, mark } = standing;
  const t = texts.value.history;
  return (
    <li class={mark}>
      <span>
        <EventName type={webhook.type} />
      </span>
      <span class="copied">
        <UrlText url={webhook.url} />
        <CopyButton what="URL" value={() => webhook.url} />
      </span>
      <span class="difference">
        {!webhook.isActive && mark !== 'added' && <span class="badge quiet">{t.wasOff}</span>}
        {mark !== 'same' && <span class={`badge ${TONES[mark]}`}>{t.marks[mark]}</span>}
        {mark === 'changed' && <small>{differences(standing).join(' · ')}</small>}
      </span>
    </li>
  );
}

function differences({ webhook, current }: Standing): string[] {
  const t = texts.value.history;
  if (!current) return [];
  const hasOtherNames = namesOf(current) !== namesOf(webhook);
  return [
    ...(current.url === webhook.url ? [] : [t.url(isolated(current.url))]),
    ...(current.isActive === webhook.isActive ? [] : [current.isActive ? t.active : t.paused]),
    ...(hasOtherNames ? [t.headers(isolated(namesOf(current)))] : []),
    ...(!hasOtherNames && valuesOf(current) !== valuesOf(webhook) ? [t.headerValues] : []),
  ];
}
