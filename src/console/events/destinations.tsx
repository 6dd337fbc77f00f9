import type { components } from '../api/openapi.js';
import { OutcomeBadge } from '../parts/outcome-badge.js';
import { UrlText } from '../parts/url-text.js';
import { addressOf, deliveryAddress } from '../state/addresses.js';
import { useWebhooks } from '../state/webhooks.js';
import { eventTexts } from '../texts/events.js';
import { texts } from '../texts/texts.js';

/** To whom an event went, each a link to its delivery; or why to nobody, with the remedy. */
export function Destinations({ event }: { event: components['schemas']['PublishedEvent'] }) {
  const t = eventTexts.value;
  const { eventTypes, deliveries, problems } = texts.value;
  const webhooks = useWebhooks().data?.webhooks ?? [];
  const isHeld = event.notSent === 'held';
  if (event.notSent === 'no-webhook') {
    return (
      <p class="muted nobody">
        <span class="warn">{t.nobody(eventTypes[event.eventType])}</span> {t.nobodyRemedy}{' '}
        <a href={addressOf('/webhooks')}>{deliveries.none.webhooks}</a>
      </p>
    );
  }
  return (
    <ul class="stack tight destinations">
      {event.sentTo.map(({ webhookId, deliveryId, outcome, held }) => {
        const url = webhooks.find(({ id }) => id === webhookId)?.url;
        return (
          <li key={deliveryId}>
            <a href={deliveryAddress(deliveryId)}>
              {outcome ? <OutcomeBadge outcome={held ? 'held' : outcome} /> : <small>{t.onItsWay}</small>}
              {url ? <UrlText url={url} /> : problems.webhook(webhookId)}
            </a>
          </li>
        );
      })}
      {isHeld && <li class="muted">{t.held}</li>}
    </ul>
  );
}
