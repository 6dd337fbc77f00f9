/** The deliveries that a path names, of the caller's account, as far as the view knows. */
import type { Context } from 'koa';
import type { AskView, DeliveryDetail } from '../../ports/deliveries-view.js';
import { ApiError } from '../api-error.js';
import type { Parameter } from '../operation.js';
import type { ReadLimit } from '../rate-limit.js';
import { viewAnswer } from '../read-answer.js';
import { callerOf } from '../request-context.js';

export const DELIVERY_ID: Parameter = {
  name: 'id',
  in: 'path',
  required: true,
  description:
    'The id of the delivery, which its receiver gets as `webhook-id`. All publications of an event to a webhook share it.',
  schema: { type: 'string' },
};

/** Of one event to one webhook, newest first. */
export type Publications = readonly [DeliveryDetail, ...DeliveryDetail[]];

/** Charged: an unknown id is looked up in all blocks of the view. @throws ApiError 404, 429, 503 */
export async function knownPublications(ctx: Context, view: AskView, reads: ReadLimit): Promise<Publications> {
  const { accountId } = callerOf(ctx);
  const id = String(ctx.params.id);
  await reads.turn(accountId);
  const [newest, ...others] = reads.timed(accountId, () =>
    viewAnswer(view, (known) => known.publications(accountId, id)),
  );
  if (!newest) throw new ApiError(404, 'delivery not found');
  return [newest, ...others];
}
