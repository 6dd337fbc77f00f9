/** POST /api/deliveries/{id}/resend and /cancel. */
import type { Context } from 'koa';
import type { ViewedDelivery } from '../../ports/deliveries-view.js';
import { MOST_REQUESTS, type Publications } from '../../ports/send-again.js';
import { count, object, oneOf, optional } from '../../schema.js';
import { mustBeAccepted } from '../api-error.js';
import type { ApiParts } from '../api-parts.js';
import { write } from '../operation.js';
import { notReadable } from '../read-answer.js';
import { aboutRequest, requesterOf } from '../request-context.js';
import { DONE } from '../shared-schemas.js';
import { knownPublications } from './delivery-page.js';

const TOUCHED = object('SuccessCount', 'The response to a command that succeeded.', {
  ...DONE,
  count: count('How many publications of the event were sent again.'),
});

const CANCELLATION = object('CancellationCount', 'The response to a cancellation.', {
  ...DONE,
  count: count('How many publications of the event waited and were cancelled.'),
  outcome: optional(oneOf(['delivered'], 'Only if the delivery was delivered: nothing can be cancelled.')),
});

const TOUCHES = { method: 'post', right: 'resend', returns: TOUCHED, status: 202 } as const;

export const resendDelivery = write({
  id: 'resendDelivery',
  path: '/api/deliveries/{id}/resend',
  description: `Makes one more attempt within seconds, whatever the outcome so far, under the same \`webhook-id\`. A delivery that waited for its next attempt makes this one instead, and goes on with its schedule. For a delivery that had ended it is the last attempt: if it fails, the outcome is \`exhausted\`, but a delivery that was once delivered stays so. Of an event that was published more than once, only the newest publication is sent. Each request is carried out: while the delivery waits in the queue of its URL, a later request takes the place of the earlier one; otherwise each makes an attempt. Repeat it only if the answer was lost. A delivery is sent again about ${MOST_REQUESTS} times at most.`,
  ...TOUCHES,
  refusals: {
    409: 'Nothing can be sent: the webhook is inactive or was removed, the payload is no longer kept, or the delivery was sent again too often. `message` says which.',
  },
}).answer(async (parts, { ctx, context: { actor } }) => {
  const [delivery] = await soundPublications(ctx, parts);
  mustBeAccepted(await parts.sendAgain(delivery, { trigger: 'resend', actor }, requesterOf(ctx)));
  return { success: true, message: 'the delivery is sent again', count: 1 };
});

export const cancelDelivery = write({
  id: 'cancelDelivery',
  path: '/api/deliveries/{id}/cancel',
  usesReserve: true,
  description:
    'Ends a delivery that waits for its next attempt: its outcome is `cancelled`. If it had been delivered or given up, and waits because it was sent again, only that attempt is cancelled, and the outcome is what it was before. An attempt that is being made is not interrupted: if it succeeds, the outcome is `delivered`, and if it was the last one and fails, `exhausted`. Of an event that was published more than once, all known publications that wait are ended. Nothing changes for what has ended: `count` is 0 then. What was requested earlier is cancelled even if it is not shown yet, unless the delivery shows as delivered, which is final: the response is 200 then, and nothing is done. Repeating the call is safe.',
  ...TOUCHES,
  returns: CANCELLATION,
  unchanged: 'The delivery was delivered.',
}).answer(async (parts, { ctx, context: { actor } }) => {
  const publications = await soundPublications(ctx, parts);
  // The view may lag on every other outcome, and a dispatcher on the removal of a webhook.
  if (publications.every(isDelivered)) {
    ctx.status = 200;
    return { success: true, message: 'the delivery was delivered', count: 0, outcome: 'delivered' };
  }
  mustBeAccepted(await parts.cancel(publications, actor, requesterOf(ctx)));
  const count = publications.filter(isWaiting).length;
  // No attempt tells who cancelled.
  parts.logger.info({ ...aboutRequest(ctx), actor, deliveryId: publications[0].id, count }, 'a delivery is cancelled');
  const message = count === 0 ? 'nothing waits: no further attempt is made' : 'the delivery is cancelled';
  return { success: true, message, count };
});

/** What a rebuilt view has not read yet would be taken for what never was. @throws ApiError 404, 429, 503 */
async function soundPublications(ctx: Context, parts: ApiParts): Promise<Publications> {
  if (!parts.view.isCaughtUp) throw notReadable();
  await parts.admission.waitForSlice(requesterOf(ctx));
  return knownPublications(ctx, parts);
}

function isDelivered({ outcome, sentAgain }: ViewedDelivery): boolean {
  return outcome === 'delivered' && !sentAgain;
}

function isWaiting({ outcome, sentAgain }: ViewedDelivery): boolean {
  return outcome === 'retrying' || sentAgain;
}
