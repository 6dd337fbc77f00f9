import { Copied } from '../parts/copy-button.js';
import { Freshness, staleness } from '../parts/freshness.js';
import { Skeleton } from '../parts/skeleton.js';
import { TimeText } from '../parts/time-text.js';
import { useGot } from '../state/polled.js';
import { securityTexts } from '../texts/security.js';

/** The ids alone: secrets are issued by the provider, and shown once. */
export function Credentials() {
  const found = useGot('/api/credentials', {}, { everyMs: 15_000 });
  const t = securityTexts.value.credentials;
  return (
    <section class="card">
      <header class="card-head">
        <h2>{t.title}</h2>
        <Freshness of={found} />
      </header>
      <p class="muted">{t.text}</p>
      {found.data ? (
        <ul class={`lines${staleness(found)}`}>
          {found.data.credentials.map(({ clientId, issuedAt }) => (
            <li key={clientId}>
              <Copied value={clientId} what={t.id} />
              <span>
                <small>{securityTexts.value.secrets.issued}</small>
                <TimeText at={issuedAt} />
              </span>
            </li>
          ))}
        </ul>
      ) : (
        <Skeleton lines={2} />
      )}
    </section>
  );
}
