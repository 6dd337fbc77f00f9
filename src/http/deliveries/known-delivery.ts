/** The delivery that a path names, of the caller's account, as far as the view knows. */
import type { Context } from 'koa';
import type { AskView, DeliveryDetail } from '../../ports/deliveries-view.js';
import { ApiError } from '../api-error.js';
import type { Parameter } from '../operation.js';
import type { ReadLimit } from '../read-limit.js';
import { callerOf } from '../request-context.js';

export const DELIVERY_ID: Parameter = {
  name: 'id',
  in: 'path',
  required: true,
  description: 'The id of the delivery, which its receiver gets as `webhook-id`.',
  schema: { type: 'string' },
};

/** Charged: an unknown id is looked up in all blocks of the view. @throws ApiError 404, 429, 503 */
export async function knownDelivery(ctx: Context, view: AskView, reads: ReadLimit): Promise<DeliveryDetail> {
  const { accountId } = callerOf(ctx);
  const id = String(ctx.params.id);
  await reads.turn(accountId);
  const look = () => view.ask((known) => known.delivery(accountId, id), undefined);
  const found = answered(reads.timed(accountId, look));
  if (found === null) throw new ApiError(404, 'delivery not found');
  return found;
}

/** @throws ApiError 503 if there is no view now */
export function answered<T>(answer: T | undefined): T {
  if (answer !== undefined) return answer;
  const headers = { 'retry-after': '1' };
  throw new ApiError(503, 'the deliveries are not readable now; Retry-After says when to try again', { headers });
}
