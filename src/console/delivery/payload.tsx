import { useState } from 'preact/hooks';
import type { DetailedDelivery } from '../api/shapes.js';
import { prettyTokens } from '../format/payload.js';
import { minute } from '../format/times.js';
import { CopyButton } from '../parts/copy-button.js';
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
          <span class="actions">
            <button type="button" class="button ghost" aria-pressed={isRaw} onClick={() => setRaw(!isRaw)}>
              {t.raw}
            </button>
            <CopyButton what={t.title} value={() => payload} />
          </span>
        )}
      </header>
      {payload !== null ? (
        <Text text={payload} isRaw={isRaw} />
      ) : may('payloads') ? (
        <p class="muted">{t.lost}</p>
      ) : (
        <MissingRight right="payloads" />
      )}
      {payload !== null && payloadUntil && <p class="source">{t.until(minute(new Date(payloadUntil)))}</p>}
    </section>
  );
}

function Text({ text, isRaw }: { text: string; isRaw: boolean }) {
  const tokens = isRaw ? null : prettyTokens(text);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard
    <pre class="code" tabIndex={0}>
      {tokens
        ? tokens.map(({ kind, text }, index) =>
            kind === 'mark' ? (
              text
            ) : (
              <span key={index} class={kind}>
                {text}
              </span>
            ),
          )
        : text}
    </pre>
  );
}
