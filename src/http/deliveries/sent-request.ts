/** What the requests of a delivery say beside its payload, so that the same can be sent from elsewhere. */
import { contentOfPayment } from '../../delivery/payment/payment-event.js';
import type { ReceivedRecord } from '../../ports/broker.js';
import { byName } from '../webhooks/shown-webhook.js';

export const SENT_REQUEST = {
  title: 'SentRequest',
  description: 'What each request says beside the payload. Its `webhook-*` headers are its own.',
  type: 'object',
  required: ['contentType', 'headers'],
  properties: {
    contentType: {
      type: ['string', 'null'],
      description:
        'The `content-type`. Null once the topic has lost the payment, or while the broker can not be asked.',
    },
    headers: {
      type: 'object',
      additionalProperties: { type: 'string' },
      description:
        'By name: the attributes of a CloudEvent in binary mode (`ce-*`), if its payment can be read, and the headers of the webhook as they are now, none if it was removed. A session gets the values of the attributes as empty texts without the right `payloads`, and those of the headers without `configure`.',
    },
  },
} as const;

/** @param own the headers of the webhook, which replace attributes of their names */
export function sentRequest(
  record: ReceivedRecord | null,
  own: Readonly<Record<string, string>>,
  mayPayloads: boolean,
) {
  const content = record && contentOfPayment(record);
  const names = new Set(Object.keys(own).map((name) => name.toLowerCase()));
  const attributes = (content?.attributes ?? [])
    .filter(({ key }) => !names.has(key))
    .map(({ key, value }) => [key, mayPayloads ? value : ''] as const);
  return { contentType: content?.type ?? null, headers: byName([...attributes, ...Object.entries(own)]) };
}
