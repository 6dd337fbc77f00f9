import { useState } from 'preact/hooks';
import type { ListedDelivery } from '../api/shapes.js';
import { whole } from '../format/numbers.js';
import { Icon } from '../icons/icon.js';
import { EventName } from '../parts/event-name.js';
import { OutcomeBadge, shownOutcome } from '../parts/outcome-badge.js';
import { RelativeTime } from '../parts/relative-time.js';
import { Untrusted } from '../parts/untrusted.js';
import { deliveryAddress } from '../state/addresses.js';
import { useGot } from '../state/polled.js';
import { texts } from '../texts/texts.js';

const TYPES = ['med_created', 'med_accepted', 'med_rejected'] as const;
const OUTCOMES = ['exhausted', 'retrying'] as const;
/** In each kind, the most that a page may have: the service lists the newest first, and what is older has no place here. */
const MOST = 200;
const SHOWN = 5;
const EVERY_MS = 20_000;

/** MED notices that did not arrive: they have deadlines, so they stand apart from payments. */
export function Disputes() {
  const pages = TYPES.flatMap((eventType) => OUTCOMES.map((outcome) => useNotDelivered(eventType, outcome)));
  const late = pages.flatMap((page) => page?.deliveries ?? []).sort(oldestFirst);
  const [isWhole, showAll] = useState(false);
  const shown = isWhole ? late : late.slice(0, SHOWN);
  const count = `${whole(late.length)}${pages.some((page) => page?.next) ? '+' : ''}`;
  const t = texts.value.disputes;
  if (late.length === 0) return null;
  return (
    <section class="card disputes" aria-label={t.title}>
      <h2 class="cluster">
        <Icon name="alert" />
        {t.title}
        <small>{t.shown(whole(shown.length), count)}</small>
      </h2>
      <p class="muted">{t.explained}</p>
      <ul class="lines">
        {shown.map((delivery) => (
          <li key={delivery.id}>
            <a class="row-link" href={deliveryAddress(delivery.id)}>
              <EventName type={delivery.eventType} />
            </a>
            <code class="cut">
              <Untrusted text={delivery.eventId} />
            </code>
            <OutcomeBadge outcome={shownOutcome(delivery)} />
            {delivery.publishedAt && (
              <span class="muted note">
                <RelativeTime at={delivery.publishedAt} />
              </span>
            )}
          </li>
        ))}
      </ul>
      {shown.length < late.length && (
        <button type="button" class="button" onClick={() => showAll(true)}>
          {t.showAll(count)}
        </button>
      )}
    </section>
  );
}

function useNotDelivered(eventType: (typeof TYPES)[number], outcome: (typeof OUTCOMES)[number]) {
  const query = { eventType, outcome, limit: MOST };
  return useGot('/api/deliveries', { query }, { everyMs: EVERY_MS }).data;
}

/** Whose deadline is next. */
const oldestFirst = (a: ListedDelivery, b: ListedDelivery) => (a.publishedAt ?? '').localeCompare(b.publishedAt ?? '');
