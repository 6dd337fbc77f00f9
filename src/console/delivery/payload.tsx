import { useState } from 'preact/hooks';
import type { DetailedDelivery } from '../api/shapes.js';
import { minute } from '../format/times.js';
import { CopyButton } from '../parts/copy-button.js';
import { JsonText } from '../parts/json-text.js';
import { MissingRight } from '../parts/missing-right.js';
import { may } from '../state/session.js';
import { texts } from '../texts/texts.js';

export function Payload({ delivery }: { delivery: DetailedDelivery }) {
  const [isRaw, setRaw] = useState(false);
  const { payload, payloadUntil } = delivery;
  const t = texts.value.delivery.payload;
  return (
    <section class="card">
      <header class="card-head">
        <h2>{t.title}</h2>
        {payload !== null && (
          <span class="cluster">
            <button type="button" class="button ghost" aria-pressed={isRaw} onClick={() => setRaw(!isRaw)}>
              {t.raw}
            </button>
            <CopyButton what={t.title} value={() => payload} />
          </span>
        )}
      </header>
      {payload !== null ? (
        <JsonText text={payload} isRaw={isRaw} />
      ) : may('payloads') ? (
        <p class="muted">{Date.parse(payloadUntil ?? '') > Date.now() ? t.unreadable : t.lost}</p>
      ) : (
        <MissingRight right="payloads" />
      )}
      {payload !== null && (
        <p class="source muted note">
          {isRaw ? t.published : t.formatted} {payloadUntil && t.until(minute(new Date(payloadUntil)))}
        </p>
      )}
    </section>
  );
}
