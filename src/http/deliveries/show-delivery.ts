/** GET /api/deliveries/{id}: one delivery with all its attempts, its payload, and what its receiver answered. */
import type { Context } from 'koa';
import { BrokerUnavailable, type ReceivedRecord } from '../../ports/broker.js';
import type { DeliveryDetail, ViewAttempt } from '../../ports/deliveries-view.js';
import type { PublishedPayloads } from '../../ports/published-payloads.js';
import type { Publications } from '../../ports/send-again.js';
import { object } from '../../schema.js';
import { CannotOpen, responsePlace, type Sealing } from '../../secrets/sealing.js';
import type { Admitted } from '../admission.js';
import { registered } from '../api-error.js';
import type { ApiParts } from '../api-parts.js';
import { textOf } from '../events/list-events.js';
import { read } from '../read-answer.js';
import { may } from '../request-context.js';
import { timeText } from '../shared-schemas.js';
import { openedHeaders, valuesFor } from '../webhooks/webhook-fields.js';
import { DELIVERY_DETAIL, sentRequest } from './delivery-detail-schema.js';
import { isFailed, knownPublications, publishedAt, shownAttempt, shownDelivery } from './delivery-page.js';

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
  const found = await knownPublications(ctx, parts.view);
  const seen = await beside(parts, place, found[0], ctx);
  return () => ({ delivery: shown(found, seen, parts.now().getTime()) });
});

/** What the view does not have. */
async function beside(parts: ApiParts, place: Admitted, delivery: DeliveryDetail, ctx: Context) {
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
    responseOf: (attempt: ViewAttempt) => (mayPayloads ? opened(parts.sealing, delivery, attempt) : null),
  };
}

/** Only a webhook that was never moved had one URL for all of its versions. */
async function urlsOf(
  { accounts, endpointsOf }: ApiParts,
  place: Admitted,
  { accountId, webhookId, webhookEvent, attempts }: DeliveryDetail,
): Promise<(attempt: ViewAttempt) => string | null> {
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
function opened(sealing: Pick<Sealing, 'open'>, delivery: DeliveryDetail, { at }: ViewAttempt): string | null {
  const { accountId, id, responses } = delivery;
  const sealed = responses.get(at);
  if (sealed === undefined) return null;
  try {
    return sealing.open(sealed, responsePlace(accountId, id, at));
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
