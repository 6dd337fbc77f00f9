import type { DetailedDelivery } from '../api/shapes.js';
import { minute } from '../format/times.js';
import { Fact } from '../parts/card.js';
import { CopyButton } from '../parts/copy-button.js';
import { MissingRight } from '../parts/notice.js';
import { Json, Untrusted } from '../parts/text.js';
import { may } from '../state/session.js';
import { texts } from '../texts/texts.js';
import { isAttribute } from './curl.js';

export function PayloadCard({ payload }: { payload: string | null }) {
  const t = texts.value.delivery.payload;
  return (
    <section class="card stack">
      <header class="split">
        <h2>{t.title}</h2>
        {payload !== null && <CopyButton what={t.title} value={() => payload} />}
      </header>
      {payload !== null ? (
        <Json text={payload} />
      ) : may('payloads') ? (
        <p class="muted">{t.lost}</p>
      ) : (
        <MissingRight right="payloads" />
      )}
    </section>
  );
}

/** What was sent beside the payload: names, and the values that are no secrets and the same for each attempt. */
export function Request({ delivery: { id, request, payloadUntil } }: { delivery: DetailedDelivery }) {
  const { request: t, delivery } = texts.value;
  const sent = Object.entries(request.headers);
  const headers = [
    ['content-type', request.contentType],
    ['webhook-id', id],
    ['webhook-timestamp', null],
    ['webhook-signature', null],
    ...sent.map(([name, value]) => [name, isAttribute(name) ? value : null] as const),
  ] as const;
  return (
    <section class="stack">
      <details>
        <summary>{t.headers}</summary>
        <dl class="facts">
          {headers.map(([name, value]) => (
            <Fact key={name} name={<Untrusted text={name} />}>
              <Untrusted text={value ?? '…'} />
            </Fact>
          ))}
        </dl>
        {!sent.every(([name]) => isAttribute(name)) && <p class="muted note">{t.asNow}</p>}
        <a href="https://www.standardwebhooks.com" target="_blank" rel="noreferrer">
          Standard Webhooks
        </a>
      </details>
      {payloadUntil && <p class="muted note">{delivery.payload.until(minute(new Date(payloadUntil)))}</p>}
    </section>
  );
}
