/** Retry records as release e944a2e wrote them: a copy of its code, which later changes of the writer do not affect. */
import type { Delivery } from '../../src/delivery/delivery.js';
import { keyOfEvent } from '../../src/delivery/payment/event-identity.js';
import { traceparentOf } from '../../src/observability/trace-context.js';
import type { NewRecord, RecordHeader } from '../../src/ports/broker.js';
import { header } from './delivery-samples.js';

/** @param due ms since the epoch */
export function retryRecordOfE944a2e(delivery: Delivery, due: number): NewRecord {
  const { key, value, headers } = delivery.record;
  const foreign = headers.filter(([name]) => !name.startsWith('aw-'));
  const times = [header('aw-put-off', String(delivery.parkings)), header('aw-due', String(due))];
  if (delivery.publishedAt !== null) times.push(header('aw-published', String(delivery.publishedAt)));
  if (delivery.trace) times.push(header('aw-traceparent', traceparentOf(delivery.trace)));
  if (delivery.lastSpan !== null) times.push(header('aw-last-span', delivery.lastSpan));
  return { key, value, headers: [...foreign, ...own(delivery), ...times] };
}

function own(delivery: Delivery): RecordHeader[] {
  return [
    header('aw-delivery-id', delivery.id),
    header('aw-event-id', delivery.eventId),
    header('aw-event-type', delivery.eventType),
    header('aw-account-id', String(delivery.accountId)),
    header('aw-webhook-id', String(delivery.webhookId)),
    header('aw-attempts', String(delivery.attempts)),
    header('aw-step', String(delivery.step)),
    ...identity(delivery),
  ];
}

function identity({ eventId, cloudEvent }: Delivery): RecordHeader[] {
  const key = header('aw-event-key', keyOfEvent({ eventId, eventSource: cloudEvent?.source ?? null }));
  if (cloudEvent) return [key, header('aw-content-mode', cloudEvent.mode)];
  return Buffer.from(eventId).toString('utf8') === eventId ? [] : [key];
}
