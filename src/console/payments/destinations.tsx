import type { Payment } from '../api/shapes.js';
import { OutcomeBadge } from '../parts/outcome.js';
import { UrlText } from '../parts/text.js';
import { addressOf, deliveryAddress } from '../state/addresses.js';
import { useWebhooks } from '../state/webhooks.js';
import { texts } from '../texts/texts.js';

/** Where a payment went and how each stands; or why to nobody, with the remedy. */
export function Destinations({ payment }: { payment: Payment }) {
  const { payments: t, problems } = texts.value;
  const webhooks = useWebhooks().data?.webhooks ?? [];
  if (payment.notSent === 'no-webhook') return <Nobody payment={payment} />;
  return (
    <ul class="stack tight destinations">
      {payment.sentTo.map(({ webhookId, deliveryId, outcome, held }) => {
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
    </ul>
  );
}

export function Nobody({ payment }: { payment: Payment }) {
  const { payments: t, eventTypes } = texts.value;
  return (
    <p class="muted nobody">
      <span class="warn">{t.nobody(eventTypes[payment.eventType])}</span> {t.nobodyRemedy}{' '}
      <a href={addressOf('/webhooks')}>{t.seeWebhooks}</a>
    </p>
  );
}
