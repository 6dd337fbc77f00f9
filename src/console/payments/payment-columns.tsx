import type { Payment } from '../api/shapes.js';
import { amountText } from '../format/numbers.js';
import { ArrivedBadge, OutcomeBadge } from '../parts/outcome.js';
import type { Column } from '../parts/table.js';
import { EventName, Id, UrlText } from '../parts/text.js';
import { TimeText } from '../parts/time.js';
import { addressOf, deliveryAddress, paymentAddress } from '../state/addresses.js';
import { may } from '../state/session.js';
import { useWebhooks } from '../state/webhooks.js';
import { texts } from '../texts/texts.js';

/** @param filters of the list that a payment leads back to */
export function paymentColumns(filters: Readonly<Record<string, string>>): readonly Column<Payment>[] {
  const t = texts.value.payments;
  return [
    {
      name: t.payment,
      place: 'lead',
      cell: ({ eventId, eventType }) => (
        <>
          <a class="row-link" href={paymentAddress(eventId, filters)}>
            <EventName type={eventType} />
          </a>
          <Id text={eventId} />
        </>
      ),
    },
    { name: t.arrivedHead, cell: ({ arrived }) => <ArrivedBadge arrived={arrived} /> },
    ...(may('payloads')
      ? [{ name: t.amount, place: 'end', cell: ({ amount }: Payment) => amount && amountText(amount) } as const]
      : []),
    { name: t.sentTo, cell: (payment) => <Destinations payment={payment} /> },
    { name: t.published, cell: ({ publishedAt }) => publishedAt && <TimeText at={publishedAt} /> },
  ];
}

/** Where a payment went and how each stands; or why to nobody, with the remedy. */
function Destinations({ payment }: { payment: Payment }) {
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
  const { payments: t, eventTypes, screens } = texts.value;
  return (
    <p class="muted">
      {t.nobody(eventTypes[payment.eventType])} <a href={addressOf('/webhooks')}>{screens.webhooks}</a>
    </p>
  );
}
