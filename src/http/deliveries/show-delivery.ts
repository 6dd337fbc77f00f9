/** GET /api/deliveries/{id}: one delivery with all its attempts, its payload, and what its receiver answered. */
import type { Context } from 'koa';
import { contentOfPayment } from '../../payments/payment-event.js';
import { BrokerUnavailable, type ReceivedRecord } from '../../ports/broker.js';
import type { ViewedDelivery } from '../../ports/deliveries-view.js';
import { TRIGGERS } from '../../ports/delivery-order.js';
import type { LoggedAttempt } from '../../ports/log-entry.js';
import type { PublishedPayloads } from '../../ports/published-payloads.js';
import type { Publications } from '../../ports/send-again.js';
import { flag, list, object, oneOf, optional, textOrNull, texts, timeOrNull } from '../../schema.js';
import { CannotOpen, responsePlace, type Sealing } from '../../secrets/sealing.js';
import type { Admitted } from '../admission.js';
import { registered } from '../api-error.js';
import type { ApiParts } from '../api-parts.js';
import { textOf } from '../events/list-events.js';
import { read } from '../read-answer.js';
import { may } from '../request-context.js';
import { PUBLISHED_AT, RESPONSE_TEXT, timeText } from '../shared-schemas.js';
import { byName, openedHeaders, valuesFor } from '../webhooks/webhook-fields.js';
import {
  ATTEMPT_FIELDS,
  DELIVERY,
  isFailed,
  knownPublications,
  publishedAt,
  shownAttempt,
  shownDelivery,
} from './delivery-page.js';

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

const DELIVERY_DETAIL = object('DeliveryDetail', 'A delivery in full.', {
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
function sentRequest(record: ReceivedRecord | null, own: Readonly<Record<string, string>>, mayPayloads: boolean) {
  const content = record && contentOfPayment(record);
  const names = new Set(Object.keys(own).map((name) => name.toLowerCase()));
  const sent = (content?.attributes ?? []).filter(({ key }) => !names.has(key));
  const attributes = sent.map(({ key, value }) => [key, mayPayloads ? value : ''] as const);
  return { contentType: content?.type ?? null, headers: byName([...attributes, ...Object.entries(own)]) };
}

export const showDelivery = read({
  id: 'showDelivery',
  path: '/api/deliveries/{id}',
  description:
    'Shows a delivery with the payload that was published, and its attempts with the answers to those that failed and to resends. Of an event that was published more than once, the newest publication is shown, and the outcome of each.',
  returns: object('DeliveryAnswer', 'The delivery. An attempt appears here shortly after it was made.', {
    delivery: DELIVERY_DETAIL,
  }),
}).answer(async (parts, { accountId, ctx, place }) => {
  registered(await parts.accounts.webhooks(accountId));
  const found = await knownPublications(ctx, parts);
  const seen = await beside(parts, place, found[0], ctx);
  return () => ({ delivery: shown(found, seen, parts.now().getTime()) });
});

/** What the view does not have. */
async function beside(parts: ApiParts, place: Admitted, delivery: ViewedDelivery, ctx: Context) {
  const { accountId, webhookId, payment } = delivery;
  const webhook = parts.accounts.webhook(accountId, webhookId);
  const urlOf = await urlsOf(parts, place, delivery);
  const until = await parts.payloads.keptUntil(payment);
  const record = await recordOf(parts.payloads, payment);
  const own = openedHeaders(accountId, webhook?.headers ?? [], valuesFor(ctx, parts.sealing));
  const mayPayloads = may(ctx, 'payloads');
  return {
    urlOf,
    payload: mayPayloads ? textOf(record) : null,
    payloadUntil: timeText(until),
    request: sentRequest(record, own, mayPayloads),
    responseOf: (attempt: LoggedAttempt) => (mayPayloads ? opened(parts.sealing, delivery, attempt) : null),
  };
}

/** Only a webhook that was never moved had one URL for all of its versions. */
async function urlsOf(
  { accounts, endpointsOf }: ApiParts,
  place: Admitted,
  { accountId, webhookId, webhookEvent, attempts }: ViewedDelivery,
): Promise<(attempt: LoggedAttempt) => string | null> {
  const webhook = accounts.webhook(accountId, webhookId);
  if (attempts.length === 0 || (webhook && !webhook.movedAt)) return () => webhook?.endpoint ?? null;
  const versions = new Set(attempts.map(({ version }) => version));
  const urls = await endpointsOf(accountId, webhookEvent, versions, (events) => place.paced(events));
  return ({ version }) => urls.get(version) ?? null;
}

/** The rest of the delivery is worth showing while the broker is away. */
async function recordOf(payloads: PublishedPayloads, payment: string): Promise<ReceivedRecord | null> {
  try {
    return await payloads.record(payment);
  } catch (error) {
    if (error instanceof BrokerUnavailable) return null;
    throw error;
  }
}

/** Null also if it is sealed with a master key that is gone. */
function opened(
  sealing: Pick<Sealing, 'open'>,
  delivery: ViewedDelivery,
  { at, response }: LoggedAttempt,
): string | null {
  if (response === undefined) return null;
  try {
    return sealing.open(response, responsePlace(delivery.accountId, delivery.id, at));
  } catch (error) {
    if (error instanceof CannotOpen) return null;
    throw error;
  }
}

function shown(
  publications: Publications,
  { urlOf, responseOf, ...seen }: Awaited<ReturnType<typeof beside>>,
  now: number,
) {
  const [delivery] = publications;
  const { routedAt, sentAgain } = delivery;
  const attempts = delivery.attempts.map((attempt) => {
    const { trigger = 'event', actor = null } = attempt;
    const isKept = isFailed(attempt) || trigger === 'resend';
    const response = isKept ? { response: responseOf(attempt) } : null;
    return { ...shownAttempt(attempt), url: urlOf(attempt), trigger, actor, ...response };
  });
  const all = publications.map((one) => ({ publishedAt: publishedAt(one), outcome: one.outcome }));
  return {
    ...shownDelivery(delivery, now),
    attempts,
    sentAgain,
    routedAt: timeText(routedAt),
    ...seen,
    ...(all.length > 1 && { publications: all }),
  };
}
