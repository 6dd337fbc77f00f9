import { useLocation, useRoute } from 'preact-iso/router';
import { DeliveryView } from '../delivery/delivery-view.js';
import { PayloadCard } from '../delivery/payload.js';
import { Fact } from '../parts/card.js';
import { Copied } from '../parts/copy-button.js';
import { Notice } from '../parts/notice.js';
import { ArrivedBadge } from '../parts/outcome.js';
import { ScreenHead, Skeleton, staleness } from '../parts/screen-head.js';
import { EventName, isolated } from '../parts/text.js';
import { TimeText } from '../parts/time.js';
import { useGot } from '../state/polled.js';
import { may } from '../state/session.js';
import { texts } from '../texts/texts.js';
import { Nobody } from './destinations.js';
import { filtersOf, paymentsAddress } from './filters.js';
import type { Payment } from './use-payments.js';

/** A payment: what it was, and for each destination what was sent there and what was answered. */
export function PaymentScreen() {
  const id = useRoute().params.id ?? '';
  const byId = useGot('/api/events', { query: { eventId: id, limit: 10 } });
  // An end-to-end id is what finance has.
  const isUnknown = may('payloads') && byId.data?.events.length === 0;
  const byReference = useGot('/api/events', {
    query: isUnknown ? { reference: id, limit: 10 } : { eventId: id, limit: 10 },
  });
  const found = isUnknown ? byReference : byId;
  const { screens } = texts.value;
  const list = paymentsAddress(filtersOf(useLocation().query));
  const payments = found.data?.events;
  return (
    <>
      <ScreenHead title={screens.payments} tab={id} href={list} of={found} />
      {!payments ? (
        <Skeleton lines={7} of={found} />
      ) : payments.length === 0 ? (
        <NotThere id={id} list={list} />
      ) : (
        <div class={`stack${staleness(found)}`}>
          {payments.map((payment) => (
            <PaymentView key={payment.cursor} payment={payment} />
          ))}
        </div>
      )}
    </>
  );
}

function PaymentView({ payment }: { payment: Payment }) {
  const { eventId, eventType, arrived, amount, reference, publishedAt, payload, sentTo } = payment;
  const { payments: t, delivery } = texts.value;
  return (
    <>
      <h1 class="cluster">
        <EventName type={eventType} />
        <ArrivedBadge arrived={arrived} />
      </h1>
      {payment.notSent === 'no-webhook' && <Nobody payment={payment} />}
      {payment.notSent === 'held' && <p class="muted">{t.held}</p>}
      <div class="columns">
        <section class="card">
          <dl class="facts">
            <Fact name={delivery.facts.eventId}>
              <Copied value={eventId} what={delivery.facts.eventId} />
            </Fact>
            {amount && <Fact name={t.amount}>{amount}</Fact>}
            {reference && (
              <Fact name={t.reference}>
                <Copied value={reference} what={t.reference} />
              </Fact>
            )}
            <Fact name={delivery.facts.eventType}>
              <code>{eventType}</code>
            </Fact>
            {publishedAt && (
              <Fact name={t.published}>
                <TimeText at={publishedAt} />
              </Fact>
            )}
          </dl>
        </section>
        <PayloadCard payload={payload} until={null} />
      </div>
      {sentTo.map(({ deliveryId }) => (
        <DeliveryView key={deliveryId} id={deliveryId} isPart />
      ))}
    </>
  );
}

function NotThere({ id, list }: { id: string; list: string }) {
  const t = texts.value.payments;
  return (
    <Notice icon="search" title={t.notThere.title}>
      <p>{t.notThere.text(isolated(id))}</p>
      <a class="button" href={list}>
        {t.all}
      </a>
    </Notice>
  );
}
