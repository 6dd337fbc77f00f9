import type { Payment } from '../api/shapes.js';
import { ArrivedBadge } from '../parts/outcome.js';
import type { Column } from '../parts/table.js';
import { EventName, Id } from '../parts/text.js';
import { TimeText } from '../parts/time.js';
import { paymentAddress } from '../state/addresses.js';
import { may } from '../state/session.js';
import { texts } from '../texts/texts.js';
import { Destinations } from './destinations.js';

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
    { name: t.arrivedHead, place: 'side', cell: ({ arrived }) => <ArrivedBadge arrived={arrived} /> },
    ...(may('payloads') ? [{ name: t.amount, place: 'end', cell: ({ amount }: Payment) => amount } as const] : []),
    { name: t.sentTo, cell: (payment) => <Destinations payment={payment} /> },
    { name: t.published, cell: ({ publishedAt }) => publishedAt && <TimeText at={publishedAt} /> },
  ];
}
