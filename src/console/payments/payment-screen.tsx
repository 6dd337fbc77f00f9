import { Fragment } from 'preact';
import { useLocation, useRoute } from 'preact-iso/router';
import type { Payment } from '../api/shapes.js';
import { DeliveryView } from '../delivery/delivery-view.js';
import { PayloadCard } from '../delivery/payload.js';
import { amountText } from '../format/numbers.js';
import { Fact } from '../parts/card.js';
import { Copied } from '../parts/copy-button.js';
import { NotThere } from '../parts/notice.js';
import { ArrivedBadge } from '../parts/outcome.js';
import { Loaded, ScreenHead } from '../parts/screen-head.js';
import { EventName } from '../parts/text.js';
import { TimeText } from '../parts/time.js';
import { useGot } from '../state/polled.js';
import { may } from '../state/session.js';
import { texts } from '../texts/texts.js';
import { filtersOf, paymentsAddress } from './filters.js';
import { Nobody } from './payment-columns.js';

/** A payment by its id, or by the end-to-end id that finance has. */
export function PaymentScreen() {
  const id = useRoute().params.id ?? '';
  const byId = useGot('/api/events', { query: { eventId: id, limit: 10 } });
  const isUnknown = may('payloads') && byId.data?.events.length === 0;
  const byReference = useGot('/api/events', { query: { [isUnknown ? 'reference' : 'eventId']: id, limit: 10 } });
  const found = isUnknown ? byReference : byId;
  const list = paymentsAddress(filtersOf(useLocation().query));
  const { screens } = texts.value;
  return (
    <>
      <ScreenHead title={screens.payments} tab={id} href={list} of={found} />
      <Loaded of={found}>
        {({ events }) =>
          events.length === 0 ? (
            <NotThere id={id} list={[list, screens.payments]} />
          ) : (
            events.map((payment) => (
              <Fragment key={payment.cursor}>
                <PaymentFacts payment={payment} />
                <Destinations ids={payment.sentTo.map(({ deliveryId }) => deliveryId)} />
              </Fragment>
            ))
          )
        }
      </Loaded>
    </>
  );
}

/** What a receiver logged as webhook-id leads here: to the payment, with this destination first. */
export function DeliveryScreen() {
  const id = useRoute().params.id ?? '';
  const found = useGot('/api/deliveries/{id}', { path: { id } });
  const delivery = found.data?.delivery;
  const ofPayment = useGot('/api/events', { query: { eventId: delivery?.eventId ?? id, limit: 10 } });
  const payment = ofPayment.data?.events.find(({ sentTo }) => sentTo.some(({ deliveryId }) => deliveryId === id));
  const { screens } = texts.value;
  const list = paymentsAddress({});
  return (
    <>
      <ScreenHead title={screens.payments} tab={id} href={list} of={found} />
      {found.failure?.status === 404 ? (
        <NotThere id={id} list={[list, screens.payments]} />
      ) : (
        // One list from the start: a question that is open stays open once the payment is loaded.
        <div class="stack">
          {payment && <PaymentFacts payment={payment} />}
          <Destinations ids={[id, ...(payment?.sentTo ?? []).map(({ deliveryId }) => deliveryId)]} />
        </div>
      )}
    </>
  );
}

/** For each destination of a payment: what was sent there and what was answered. @param ids of deliveries, each shown once */
function Destinations({ ids }: { ids: readonly string[] }) {
  return (
    <>
      {[...new Set(ids)].map((id) => (
        <DeliveryView key={id} id={id} />
      ))}
    </>
  );
}

function PaymentFacts({ payment }: { payment: Payment }) {
  const { eventId, eventType, arrived, amount, reference, publishedAt, payload, notSent } = payment;
  const { payments: t } = texts.value;
  return (
    <>
      <h1 class="cluster">
        <EventName type={eventType} />
        <ArrivedBadge arrived={arrived} />
      </h1>
      {notSent === 'no-webhook' && <Nobody payment={payment} />}
      {notSent === 'held' && <p class="muted">{t.held}</p>}
      <div class="columns">
        <dl class="card facts">
          <Fact name={t.eventId}>
            <Copied value={eventId} what={t.eventId} />
          </Fact>
          {amount && <Fact name={t.amount}>{amountText(amount)}</Fact>}
          {reference && (
            <Fact name={t.reference}>
              <Copied value={reference} what={t.reference} />
            </Fact>
          )}
          <Fact name={t.type}>
            <code>{eventType}</code>
          </Fact>
          {publishedAt && (
            <Fact name={t.published}>
              <TimeText at={publishedAt} />
            </Fact>
          )}
        </dl>
        <PayloadCard payload={payload} />
      </div>
    </>
  );
}
