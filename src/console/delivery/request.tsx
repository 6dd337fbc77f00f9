import type { DetailedDelivery } from '../api/shapes.js';
import { Untrusted } from '../parts/untrusted.js';
import type { Webhook } from '../state/webhooks.js';
import { requestTexts } from '../texts/request.js';

/** What was sent beside the payload, and how the receiver knows that it is genuine. */
export function Request({ delivery, webhook }: { delivery: DetailedDelivery; webhook: Webhook | null }) {
  const t = requestTexts.value;
  // The API does not say which ones an attempt had.
  const own = Object.keys(webhook?.headers ?? {});
  const headers = [
    ['content-type', 'application/json'],
    ['webhook-id', delivery.id],
    ['webhook-timestamp', t.timestamp],
    ['webhook-signature', t.signature],
    ...own.map((name) => [name, t.hidden] as const),
  ] as const;
  return (
    <section class="card">
      <details>
        <summary>{t.headers}</summary>
        <dl class="facts">
          {headers.map(([name, value]) => (
            <div key={name}>
              <dt>
                <code>
                  <Untrusted text={name} />
                </code>
              </dt>
              <dd>
                <Untrusted text={value} />
              </dd>
            </div>
          ))}
        </dl>
        {own.length > 0 && <p class="source muted note">{t.asNow}</p>}
      </details>
      <details>
        <summary>{t.check}</summary>
        <ol class="steps">
          {t.steps.map((step) => (
            <li key={step}>{step}</li>
          ))}
        </ol>
        <p>
          <a href="https://www.standardwebhooks.com" target="_blank" rel="noreferrer">
            Standard Webhooks
          </a>
        </p>
      </details>
    </section>
  );
}
