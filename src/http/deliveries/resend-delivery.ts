/** POST /api/deliveries/{id}/resend and /cancel. */
import type { Context } from 'koa';
import type { Logger } from '../../observability/logger.js';
import { RecordRefused } from '../../ports/broker.js';
import type { AskView, DeliveryDetail } from '../../ports/deliveries-view.js';
import { MOST_RESENDS, type SendAgain, type SentAgain } from '../../ports/send-again.js';
import { ApiError } from '../api-error.js';
import { type Operation, refusal } from '../operation.js';
import { aboutRequest, callerOf } from '../request-context.js';
import { SUCCESS } from '../shared-schemas.js';
import type { Reading } from '../webhooks/list-webhooks.js';
import { DELIVERY_ID, knownDelivery } from './known-delivery.js';

const NOT_FOUND = refusal('The account has no delivery with this id, or it is not known yet.');
const UNAVAILABLE = refusal('The service is unavailable. Retry-After says when to try again; trying again is safe.');

export const resendOperation: Operation = {
  id: 'resendDelivery',
  method: 'post',
  path: '/api/deliveries/{id}/resend',
  tag: 'Deliveries',
  summary: 'Send a delivery again',
  description: `Makes one more attempt within seconds, whatever the outcome so far, under the same \`webhook-id\`. A delivery that waited for its next attempt makes this one instead, and goes on with its schedule. For a delivery that had ended it is the last attempt: if it fails, the outcome is \`exhausted\`. Of an event that was published twice, the newer publication is sent. Several requests before the attempt was made are one. A delivery is sent again at most ${MOST_RESENDS} times.`,
  security: 'bearer',
  right: 'resend',
  rateLimit: 'writes',
  parameters: [DELIVERY_ID],
  responses: {
    202: { description: 'The attempt follows.', schema: SUCCESS },
    404: NOT_FOUND,
    409: refusal(
      'Nothing can be sent: the webhook is inactive or was removed, the payload is no longer kept, or the delivery was sent again too often. `message` says which.',
    ),
    503: UNAVAILABLE,
  },
};

export const cancelOperation: Operation = {
  id: 'cancelDelivery',
  method: 'post',
  path: '/api/deliveries/{id}/cancel',
  tag: 'Deliveries',
  summary: 'Cancel a waiting delivery',
  description:
    'Ends a delivery that waits for its next attempt: its outcome is `cancelled`. If it had ended, and waits because it was sent again, only that attempt is cancelled, and the outcome is what it was before. An attempt that is being made is not interrupted, and if it succeeds, the outcome is `delivered`. A delivery that was cancelled before stays so, with the same response. What was sent again less than a second ago may not be known yet.',
  security: 'bearer',
  right: 'resend',
  rateLimit: 'writes',
  parameters: [DELIVERY_ID],
  responses: {
    202: { description: 'No further attempt is made.', schema: SUCCESS },
    404: NOT_FOUND,
    409: refusal('The delivery has ended, and no attempt waits.'),
    503: UNAVAILABLE,
  },
};

const REFUSED: Readonly<Record<Exclude<SentAgain, 'put-back' | 'refused'>, string>> = {
  gone: 'the payload of this delivery is no longer kept',
  inactive: 'the webhook of this delivery is inactive or was removed: activate it first',
  'too-often': `this delivery was sent again ${MOST_RESENDS} times: no more`,
};

export interface ResendParts {
  readonly view: AskView;
  readonly sendAgain: SendAgain;
  readonly cancel: Cancel;
  readonly logger: Logger;
}

/** @throws BrokerUnavailable */
export type Cancel = (delivery: DeliveryDetail) => Promise<void>;

export function resendDelivery({ view, sendAgain, logger }: Omit<ResendParts, 'cancel'>, { reads }: Reading) {
  return async (ctx: Context): Promise<void> => {
    const delivery = await knownDelivery(ctx, view, reads);
    const sent = await sendAgain(delivery, { trigger: 'resend', actor: callerOf(ctx).actor });
    if (sent === 'refused') throw new RecordRefused('the retry topic refuses the delivery');
    if (sent !== 'put-back') throw new ApiError(409, REFUSED[sent]);
    logger.info({ ...aboutRequest(ctx), deliveryId: delivery.id }, 'a delivery is sent again');
    accepted(ctx, 'the delivery is sent again');
  };
}

export function cancelDelivery({ view, cancel, logger }: Omit<ResendParts, 'sendAgain'>, { reads }: Reading) {
  return async (ctx: Context): Promise<void> => {
    const delivery = await knownDelivery(ctx, view, reads);
    const { outcome, before, id: deliveryId } = delivery;
    if (outcome !== 'retrying' && outcome !== 'cancelled' && before === null) {
      throw new ApiError(409, `the delivery has ended: it is ${outcome}`);
    }
    await cancel(delivery);
    logger.info({ ...aboutRequest(ctx), actor: callerOf(ctx).actor, deliveryId }, 'a delivery is cancelled');
    accepted(ctx, before === null ? 'the delivery is cancelled' : 'the attempt is cancelled');
  };
}

function accepted(ctx: Context, message: string): void {
  ctx.status = 202;
  ctx.body = { success: true, message };
}
