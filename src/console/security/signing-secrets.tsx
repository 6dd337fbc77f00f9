import { useState } from 'preact/hooks';
import { Icon } from '../icons/icon.js';
import { Freshness, staleness } from '../parts/freshness.js';
import { Skeleton } from '../parts/skeleton.js';
import { TimeText } from '../parts/time-text.js';
import { useGot } from '../state/polled.js';
import { securityTexts } from '../texts/security.js';
import { RotateSecret } from './rotate-secret.js';

export function SigningSecrets() {
  const [isRotating, setRotating] = useState(false);
  const found = useGot('/api/signing-secrets', {}, { everyMs: 15_000 });
  const t = securityTexts.value.secrets;
  return (
    <section class="card">
      <header class="card-head">
        <h2>{t.title}</h2>
        <Freshness of={found} />
      </header>
      <p class="muted">{t.text}</p>
      {found.data ? (
        <ul class={`lines secrets${staleness(found)}`}>
          {found.data.secrets.toReversed().map(({ issuedAt, endsAt }) => (
            <li key={issuedAt}>
              <span>
                <small>{t.issued}</small>
                <TimeText at={issuedAt} />
              </span>
              <span>
                <small>{endsAt ? `${t.signs} ${t.until}` : t.signs}</small>
                {endsAt ? <TimeText at={endsAt} /> : <b class="good">{t.current}</b>}
              </span>
            </li>
          ))}
        </ul>
      ) : (
        <Skeleton lines={2} />
      )}
      <button type="button" class="button primary" onClick={() => setRotating(true)}>
        <Icon name="refresh" size={14} />
        {t.rotate}
      </button>
      {isRotating && <RotateSecret onClose={() => setRotating(false)} onDone={found.look} />}
    </section>
  );
}
