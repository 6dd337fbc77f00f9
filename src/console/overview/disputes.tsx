import { api, resultOf } from '../api/client.js';
import type { components } from '../api/openapi.js';
import { Icon } from '../icons/icon.js';
import { EventName } from '../parts/event-name.js';
import { OutcomeBadge, shownOutcome } from '../parts/outcome-badge.js';
import { RelativeTime } from '../parts/relative-time.js';
import { Untrusted } from '../parts/untrusted.js';
import { deliveryAddress } from '../state/addresses.js';
import { type Asking, usePolled } from '../state/polled.js';
import { texts } from '../texts/texts.js';

type Page = components['schemas']['AccountDeliveryPage'];
type Listed = Page['deliveries'][number];

const TYPES = ['med_created', 'med_accepted', 'med_rejected'] as const;
const OUTCOMES = ['exhausted', 'retrying'] as const;
const EVERY_MS = 20_000;

/** MED notices that did not arrive: they have deadlines, so they stand apart from payments. */
export function Disputes() {
  const pages = TYPES.flatMap((eventType) => OUTCOMES.map((outcome) => useNotDelivered(eventType, outcome)));
  const late = pages.flatMap((page) => page?.deliveries ?? []).sort(byAge);
  const t = texts.value.disputes;
  if (late.length === 0) return null;
  return (
    <section class="card disputes" aria-label={t.title}>
      <h2>
        <Icon name="alert" /> {t.title}
      </h2>
      <ul>
        {late.slice(0, 5).map((delivery) => (
          <li key={delivery.id}>
            <a class="row-link" href={deliveryAddress(delivery.id)}>
              <EventName type={delivery.eventType} />
            </a>
            <code>
              <Untrusted text={delivery.eventId} />
            </code>
            <OutcomeBadge outcome={shownOutcome(delivery)} />
            {delivery.publishedAt && <RelativeTime at={delivery.publishedAt} />}
          </li>
        ))}
      </ul>
    </section>
  );
}

function useNotDelivered(eventType: (typeof TYPES)[number], outcome: (typeof OUTCOMES)[number]): Page | null {
  const query = { eventType, outcome, limit: 5 };
  const ask = (asking: Asking) => resultOf(api.GET('/api/deliveries', { params: { query }, ...asking }));
  return usePolled<Page>(`disputes ${eventType} ${outcome}`, ask, { everyMs: EVERY_MS }).data;
}

const byAge = (a: Listed, b: Listed) => (a.publishedAt ?? '').localeCompare(b.publishedAt ?? '');
