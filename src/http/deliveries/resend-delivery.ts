/** POST /api/deliveries/{id}/resend and /cancel. */
import type { Context } from 'koa';
import type { Logger } from '../../observability/logger.js';
import { RecordRefused } from '../../ports/broker.js';
import type { AskView, DeliveryDetail } from '../../ports/deliveries-view.js';
import { MOST_RESENDS, type SendAgain, type SentAgain } from '../../ports/send-again.js';
import { ApiError } from '../api-error.js';
import { type Operation, type Route, refusal, route, WRITE } from '../operation.js';
import type { ReadLimit } from '../rate-limit.js';
import { aboutRequest, callerOf } from '../request-context.js';
import { COUNT, counted } from '../shared-schemas.js';
import { DELIVERY_ID, knownPublications } from './delivery-page.js';

const NOT_FOUND = refusal('The account has no delivery with this id, or it is not known yet.');
const TOUCHED = counted('count', {
  ...COUNT,
  description: 'How many publications of the event were sent again, or cancelled.',
});
const UNAVAILABLE = refusal('The service is unavailable. Retry-After says when to try again; trying again is safe.');

const RESEND_DELIVERY: Operation = {
  id: 'resendDelivery',
  ...WRITE,
  method: 'post',
  path: '/api/deliveries/{id}/resend',
  tag: 'Deliveries',
  summary: 'Send a delivery again',
  description: `Makes one more attempt within seconds, whatever the outcome so far, under the same \`webhook-id\`. A delivery that waited for its next attempt makes this one instead, and goes on with its schedule. For a delivery that had ended it is the last attempt: if it fails, the outcome is \`exhausted\`. Of an event that was published more than once, only the newest publication is sent. Several requests before the attempt was made are one. A delivery is sent again at most ${MOST_RESENDS} times.`,
  right: 'resend',
  parameters: [DELIVERY_ID],
  responses: {
    202: { description: 'The attempt follows.', schema: TOUCHED },
    404: NOT_FOUND,
    409: refusal(
      'Nothing can be sent: the webhook is inactive or was removed, the payload is no longer kept, or the delivery was sent again too often. `message` says which.',
    ),
    503: UNAVAILABLE,
  },
};

const CANCEL_DELIVERY: Operation = {
  id: 'cancelDelivery',
  ...WRITE,
  method: 'post',
  path: '/api/deliveries/{id}/cancel',
  tag: 'Deliveries',
  summary: 'Cancel a waiting delivery',
  description:
    'Ends a delivery that waits for its next attempt: its outcome is `cancelled`. If it had ended, and waits because it was sent again, only that attempt is cancelled, and the outcome is what it was before. An attempt that is being made is not interrupted, and if it succeeds, the outcome is `delivered`. Of an event that was published more than once, all publications that wait are ended. What was cancelled before stays so, and is not counted. What was sent again less than a second ago may not be known yet.',
  right: 'resend',
  parameters: [DELIVERY_ID],
  responses: {
    202: { description: 'No further attempt is made.', schema: TOUCHED },
    404: NOT_FOUND,
    409: refusal('The delivery has ended otherwise, and no attempt waits.'),
    503: UNAVAILABLE,
  },
};

const REFUSED: Readonly<Record<Exclude<SentAgain, 'put-back' | 'refused'>, string>> = {
  gone: 'the payload of this delivery is no longer kept',
  inactive: 'the webhook of this delivery is inactive or was removed: activate it first',
  'too-often': `this delivery was sent again ${MOST_RESENDS} times: no more`,
};

/** @throws BrokerUnavailable */
export type Cancel = (delivery: DeliveryDetail) => Promise<void>;

export function resendDelivery(view: AskView, sendAgain: SendAgain, logger: Logger, reads: ReadLimit): Route {
  return route(RESEND_DELIVERY, async (ctx) => {
    const [delivery] = await knownPublications(ctx, view, reads);
    const sent = await sendAgain(delivery, { trigger: 'resend', actor: callerOf(ctx).actor });
    if (sent === 'refused') throw new RecordRefused('the retry topic refuses the delivery');
    if (sent !== 'put-back') throw new ApiError(409, REFUSED[sent]);
    logger.info({ ...aboutRequest(ctx), deliveryId: delivery.id }, 'a delivery is sent again');
    accepted(ctx, 'the delivery is sent again', 1);
  });
}

export function cancelDelivery(view: AskView, cancel: Cancel, logger: Logger, reads: ReadLimit): Route {
  return route(CANCEL_DELIVERY, async (ctx) => {
    const publications = await knownPublications(ctx, view, reads);
    const cancellable = publications.filter(isCancellable);
    const [{ outcome, id: deliveryId }] = publications;
    if (cancellable.length === 0) throw new ApiError(409, `the delivery has ended: it is ${outcome}`);
    // A dispatcher ends those of a removed webhook: a mark would hide them from it.
    for (const one of cancellable) if (one.endedBy === null) await cancel(one);
    const count = cancellable.filter(isWaiting).length;
    logger.info({ ...aboutRequest(ctx), actor: callerOf(ctx).actor, deliveryId, count }, 'a delivery is cancelled');
    const isAgain = cancellable.every(({ before }) => before !== null);
    accepted(ctx, isAgain ? 'the attempt is cancelled' : 'the delivery is cancelled', count);
  });
}

/** Again, if it is cancelled already: its mark may be missing. */
function isCancellable({ outcome, before }: DeliveryDetail): boolean {
  return outcome === 'retrying' || outcome === 'cancelled' || before !== null;
}

function isWaiting({ outcome, sentAgain }: DeliveryDetail): boolean {
  return outcome === 'retrying' || sentAgain;
}

function accepted(ctx: Context, message: string, count: number): void {
  ctx.status = 202;
  ctx.body = { success: true, message, count };
}
