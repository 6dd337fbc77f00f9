import { useState } from 'preact/hooks';
import { Icon } from '../icons/icon.js';
import { TimeText } from '../parts/time-text.js';
import { useGot } from '../state/polled.js';
import { securityTexts } from '../texts/security.js';
import { RotateSecret } from './rotate-secret.js';
import { SecurityCard } from './security-card.js';

export function SigningSecrets() {
  const [isRotating, setRotating] = useState(false);
  const found = useGot('/api/signing-secrets', {}, { everyMs: 15_000 });
  const t = securityTexts.value.secrets;
  const rotate = (
    <button type="button" class="button primary" onClick={() => setRotating(true)}>
      <Icon name="refresh" size={14} />
      {t.rotate}
    </button>
  );
  return (
    <>
      <SecurityCard title={t.title} text={t.text} of={found} lines={2} below={rotate}>
        {({ secrets }) => (
          <ul class="lines secrets">
            {secrets.toReversed().map(({ issuedAt, endsAt }) => (
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
        )}
      </SecurityCard>
      {isRotating && <RotateSecret onClose={() => setRotating(false)} onDone={found.look} />}
    </>
  );
}
