import type { DetailedDelivery } from '../api/shapes.js';
import { Untrusted } from '../parts/untrusted.js';
import { requestTexts } from '../texts/request.js';
import { isAttribute } from './curl.js';

/** What was sent beside the payload, and how the receiver knows that it is genuine. */
export function Request({ delivery: { id, request } }: { delivery: DetailedDelivery }) {
  const t = requestTexts.value;
  const sent = Object.entries(request.headers);
  const headers = [
    ...(request.contentType === null ? [] : [['content-type', request.contentType] as const]),
    ['webhook-id', id],
    ['webhook-timestamp', t.timestamp],
    ['webhook-signature', t.signature],
    ...sent.map(([name, value]) => [name, (isAttribute(name) && value) || t.hidden] as const),
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
        {!sent.every(([name]) => isAttribute(name)) && <p class="source muted note">{t.asNow}</p>}
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
