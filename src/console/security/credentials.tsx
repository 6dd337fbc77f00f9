import { Copied } from '../parts/copy-button.js';
import { TimeText } from '../parts/time-text.js';
import { useGot } from '../state/polled.js';
import { securityTexts } from '../texts/security.js';
import { SecurityCard } from './security-card.js';

/** The ids alone: secrets are issued by the provider, and shown once. */
export function Credentials() {
  const found = useGot('/api/credentials', {}, { everyMs: 15_000 });
  const t = securityTexts.value.credentials;
  return (
    <SecurityCard title={t.title} text={t.text} of={found} lines={2}>
      {({ credentials }) => (
        <ul class="lines">
          {credentials.map(({ clientId, issuedAt }) => (
            <li key={clientId}>
              <Copied value={clientId} what={t.id} />
              <span>
                <small>{securityTexts.value.secrets.issued}</small>
                <TimeText at={issuedAt} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </SecurityCard>
  );
}
