/** One delivery in full: its schema, and what its requests say beside the payload, so that the same can be sent from elsewhere. */
import { contentOfPayment } from '../../payments/payment-event.js';
import type { ReceivedRecord } from '../../ports/broker.js';
import { TRIGGERS } from '../../ports/delivery-order.js';
import { flag, list, object, oneOf, optional, textOrNull, texts, timeOrNull } from '../../schema.js';
import { PUBLISHED_AT, RESPONSE_TEXT } from '../shared-schemas.js';
import { byName } from '../webhooks/webhook-fields.js';
import { ATTEMPT_FIELDS, DELIVERY } from './delivery-page.js';

const SENT_REQUEST = object('SentRequest', 'What each request says beside the payload and its `webhook-*` headers.', {
  contentType: textOrNull('The `content-type`. Null if the payment can not be read now.'),
  headers: texts(
    'By name: the attributes of a CloudEvent in binary mode (`ce-*`), if its payment can be read, and the headers of the webhook as they are now, none if it was removed. A session gets the values of the attributes as empty texts without the right `payloads`, and those of the headers without `configure`.',
  ),
});

const FULL_ATTEMPT = object('FullAttempt', 'One HTTPS request of a delivery, with what was answered.', {
  ...ATTEMPT_FIELDS,
  url: textOrNull('The URL that the request went to, normalised. Null if it is unknown.'),
  trigger: oneOf(
    TRIGGERS,
    '`event`: the payment event came. `retry`: the attempt before it failed. `resend`: it was asked for. `recover`: a recovery of the webhook. `replay`: the operator replayed dead letters.',
    { title: 'Trigger' },
  ),
  actor: textOrNull('Who asked for the attempt. Null if nobody did.'),
  response: optional(
    textOrNull(
      `If the attempt failed or was a resend: ${RESPONSE_TEXT} Null if there was no body, if the caller may not see payloads, or if it was sealed with a key that the service no longer has.`,
    ),
  ),
});

const PUBLICATION = object('Publication', 'One publication of the event.', {
  publishedAt: PUBLISHED_AT,
  outcome: DELIVERY.outcome,
});

export const DELIVERY_DETAIL = object('DeliveryDetail', 'A delivery in full.', {
  ...DELIVERY,
  attempts: list('The attempts so far, oldest first.', FULL_ATTEMPT),
  sentAgain: flag('True: it had ended, was sent again, and waits for that attempt.'),
  routedAt: timeOrNull('When the event was routed to the webhooks of the account. Null if that is not known yet.'),
  payload: textOrNull('What was published, as text. Null if it can not be read now, or not by the caller.'),
  payloadUntil: timeOrNull('From this time on the topic may lose the payload. Null: never, or unknown.'),
  request: SENT_REQUEST,
  publications: optional(list('All publications, newest first, if there are several. At most 1,000.', PUBLICATION)),
});

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
