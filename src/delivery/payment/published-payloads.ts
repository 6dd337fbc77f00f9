import type { Broker } from '../../ports/broker.js';
import { isTime } from '../../ports/broker.js';
import type { PublishedPayloads } from '../../ports/published-payloads.js';
import { paymentText, placeOf, readPaymentText } from '../record-place.js';

/** @param keptMs how long a payment topic keeps its records; null: not limited by time, or not known */
export function createPublishedPayloads(
  broker: Pick<Broker, 'read'>,
  keptMs: (topic: string) => Promise<number | null>,
): PublishedPayloads {
  return {
    async record(payment) {
      const place = readPaymentText(payment);
      const record = place && (await broker.read(place.topic, place.partition, place.offset));
      return record && paymentText(placeOf(record)) === payment ? record : null;
    },
    async keptUntil(payment) {
      const place = readPaymentText(payment);
      const kept = place && isTime(place.at) ? await keptMs(place.topic) : null;
      return place && kept !== null ? place.at + kept : null;
    },
  };
}
