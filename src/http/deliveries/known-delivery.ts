/** The delivery that a path names, of the caller's account, as far as the view knows. */
import type { Context } from 'koa';
import type { AskView, DeliveryDetail } from '../../ports/deliveries-view.js';
import { ApiError } from '../api-error.js';
import type { Parameter } from '../operation.js';
import { callerOf } from '../request-context.js';

export const DELIVERY_ID: Parameter = {
  name: 'id',
  in: 'path',
  required: true,
  description: 'The id of the delivery, which its receiver gets as `webhook-id`.',
  schema: { type: 'string' },
};

/** @throws ApiError 404, 503 */
export function knownDelivery(ctx: Context, view: AskView): DeliveryDetail {
  const id = String(ctx.params.id);
  const found = answered(view.ask((known) => known.delivery(callerOf(ctx).accountId, id), undefined));
  if (found === null) throw new ApiError(404, 'delivery not found');
  return found;
}

/** @throws ApiError 503 if there is no view now */
export function answered<T>(answer: T | undefined): T {
  if (answer !== undefined) return answer;
  const headers = { 'retry-after': '1' };
  throw new ApiError(503, 'the deliveries are not readable now; Retry-After says when to try again', { headers });
}
