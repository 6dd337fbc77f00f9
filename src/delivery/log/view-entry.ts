/** Converts records of the deliveries and the requests topic to entries of the view. */
import type { ViewEntry, ViewRecord, ViewRouting } from '../../ports/deliveries-view.js';
import type { DeliveryLogEntry } from '../../ports/log-entry.js';
import { entriesOfRequest } from '../again/request.js';
import { firstAtOf, readPaymentText } from '../record-place.js';
import { isDeliveryEntry, type LogEntries, readLogRecord } from './log-record.js';

/**
 * Adds the record position to the entries themselves: each reading of a record creates its own. A copy by spreading took
 * 15 us per entry instead of 0.3 us.
 */
export function viewEntries(record: ViewRecord): (ViewEntry | ViewRouting)[] {
  const { topic, partition, offset, timestamp } = record;
  const place = { partition, offset, timestamp };
  const { deliveries, routed } = topic === 'requests' ? requested(record) : readLogRecord(record);
  return [
    ...routed.map((entry, index) => {
      return Object.assign(entry, { kind: 'routed' as const, place, firstAt: firstAtOf(entry.payment), index });
    }),
    ...deliveries.filter(isOfPayment).map((entry) => {
      return Object.assign(entry, { kind: 'delivery' as const, place, firstAt: firstAtOf(entry.payment) });
    }),
  ];
}

function requested(record: ViewRecord): LogEntries {
  return { deliveries: entriesOfRequest(record).filter((entry) => isDeliveryEntry(entry)), routed: [] };
}

/** False without the place of its payment: another program wrote its record to a tier. */
function isOfPayment(entry: DeliveryLogEntry): entry is DeliveryLogEntry & Pick<ViewEntry, 'payment'> {
  return entry.payment !== undefined && readPaymentText(entry.payment) !== null;
}
